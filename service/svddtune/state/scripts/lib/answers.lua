-- Verdicts: what an answer does to votes, labels and queries.

-- Takes one answer, which has the fields of the arguments of `answer`. `follow` does what comes after a
-- vote, before the receipt is written. Returns the receipt or a refusal, and whether anything was stored.
local function take_answer(s, one, follow)
  local before = seen_before(s, one.labeler, one.answer_id, one.fingerprint)
  if before then
    return before, false
  end

  local labeler, holder, row, verdict, n = one.labeler, one.holder, one.row, int(one.verdict), one.query
  local asked
  if n > 0 then
    asked = get_query(s, n)
    if not asked then
      return refuse('UNKNOWN_QUERY')
    end
    if row and row ~= asked.row then
      return refuse('OBSERVATION_MISMATCH', { asked_row = asked.row })
    end
    row = asked.row
    if not issued_to(asked, one.lease_id, labeler) then
      return refuse('LEASE_LOST')
    end
  end
  if withdrawn_labelers(s)[labeler] then
    return refuse('LABELER_WITHDRAWN')
  end

  -- From lease to answer, without the time in which the labeler answered something else; 0 where the
  -- server's clock went back meanwhile.
  local lease = asked and asked.leases[one.lease_id]
  local ms = lease and math.max(0, NOW - math.max(lease.since, labeler_info(s, labeler).last))

  local function log_as(kind, decides, control)
    return log_label(s, kind, { row = row, verdict = verdict, labeler = labeler, query = n,
      source = one.source, answer_id = one.answer_id, ms = ms, provenance = one.provenance,
      confidence = one.confidence, decides = decides, control = control })
  end

  local function receipt(applied, event)
    return give_receipt(s, labeler, one.answer_id, one.fingerprint, applied, n, event), true
  end

  local function unused()
    local refusal = refuse_correction(s, row, labeler)
    if refusal then
      return refusal, false
    end
    return receipt(false, log_as('UNUSED'))
  end

  if not takes_labels(s) then
    if asked then
      return unused()
    end
    return refuse('SESSION_NOT_ACTIVE', { state = s.state })
  end
  if asked and asked.repeats then
    if not lease then
      return unused()
    end
    local event = log_as('REPEATED', nil, asked.control)
    close_query(s, asked, 'settled', holder)
    note_answer(s, labeler, row, ms, true)
    follow()
    return receipt(true, event)
  end

  if not asked and is_control(s, row) then
    -- A labeler that thought better of it, or one that nobody asked.
    local refusal = refuse_correction(s, row, labeler)
    if refusal then
      return refusal
    end
    local event = log_as('REPEATED', nil, true)
    note_answer(s, labeler, row, nil, true)
    follow()
    return receipt(true, event)
  end

  local votes = load_votes(s, row)
  local own = vote_of(votes, labeler)
  local existing = redis.call('HGET', part(s, 'labels'), int(row))
  local label = existing and string.match(existing, '^%S+')
  local open = redis.call('HGET', part(s, 'asked'), int(row))
  local conflict = open and s.adjudicators and get_query(s, open).conflict
  local decides = conflict and is_adjudicator(s, labeler)
  -- A further vote has a place while the row has no verdict, or its query wants votes. Where it wants an
  -- adjudicator's, no other has.
  local wanted = not label or label == '0' or open
  if own then
    wanted = one.replace or label == '0' or decides
  elseif conflict then
    wanted = decides
  end
  if not wanted then
    if asked then
      return unused()
    end
    if conflict and not own then
      return refuse('AWAITS_ADJUDICATION', { row = row })
    end
    return refuse('ALREADY_ANSWERED', { verdict = tonumber(own and own[2] or label), row = row })
  end

  local refusal = own and refuse_correction(s, row, labeler)
  if refusal then
    return refusal
  end
  decides = decides or own and own[5] or nil
  local event = log_as('LABELED', decides)
  -- Remembered with the vote, also where the answer came unasked: a retraction asks again.
  n = number_of_query(s, row, votes, n)
  if own then
    own[2], own[3], own[4], own[5] = verdict, n, one.confidence, decides
  else
    votes[#votes + 1] = { labeler, verdict, n, one.confidence, decides }
  end
  save_votes(s, row, votes)
  note_answer(s, labeler, row, ms, false)
  if n > 0 then
    -- The labeler's own leases on the query have done their work, on whatever stream.
    local q = get_query(s, n)
    for id, held in pairs(q.leases) do
      if held.labeler == labeler then
        end_lease(s, q, id, holder)
      end
    end
    put_query(s, q)
  end
  settle(s, row, n, holder)
  follow()
  return receipt(true, event)
end
