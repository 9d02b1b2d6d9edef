-- Stores one verdict.
-- ARGV: prefix, session id, answer id, fingerprint of its content, labeler, query or 0, lease id,
--   row or -1, verdict (1, -1, 0), source reference, holder, 1 where it may replace an earlier vote,
--   who waits for the next query as JSON, or "", the rule behind the verdict, or "".
-- Reply: {"applied", "query", "counts", "event"}; the same for a repeat.
-- Refusals: SESSION_NOT_FOUND, ANSWER_ID_REUSED, UNKNOWN_QUERY, OBSERVATION_MISMATCH {row},
--   LEASE_LOST, SESSION_NOT_ACTIVE {state}, ALREADY_ANSWERED {verdict, row}, LABELER_WITHDRAWN,
--   TOO_MANY_CORRECTIONS {row, most}.
local _, sid, answer_id, fingerprint, labeler, n, lease_id, row, verdict, source, holder, replace,
  waiter, provenance = unpack(ARGV)
n, row = tonumber(n), tonumber(row)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local before = seen_before(s, answer_id, fingerprint)
if before then
  return before
end

local asked
if n > 0 then
  asked = get_query(s, n)
  if not asked then
    return refuse('UNKNOWN_QUERY', { query = n })
  end
  if row >= 0 and row ~= asked.row then
    return refuse('OBSERVATION_MISMATCH', { row = asked.row })
  end
  row = asked.row
  if not issued_to(asked, lease_id, labeler) then
    return refuse('LEASE_LOST', { query = n })
  end
end
if withdrawn_labelers(s)[labeler] then
  return refuse('LABELER_WITHDRAWN')
end

-- From lease to answer, without the time in which the labeler answered something else.
local lease = asked and asked.leases[lease_id]
local ms = lease and NOW - math.max(lease.since, labeler_info(s, labeler).last)

local function unused()
  local refusal = refuse_correction(s, row, labeler)
  if refusal then
    return refusal
  end
  local event = log_label(s, 'UNUSED', row, verdict, labeler, n, source, answer_id, ms, provenance)
  return give_receipt(s, answer_id, fingerprint, false, n, event)
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
  local event = log_label(s, 'REPEATED', row, verdict, labeler, n, source, answer_id, ms, provenance)
  close_query(s, asked, 'settled', holder)
  note_answer(s, labeler, row, ms, true)
  wait_on(s, holder, waiter)
  go_on(s)
  return give_receipt(s, answer_id, fingerprint, true, n, event)
end

local votes = load_votes(s, row)
local own = vote_of(votes, labeler)
local existing = redis.call('HGET', part(s, 'labels'), int(row))
local label = existing and string.match(existing, '^%S+')
local open = redis.call('HGET', part(s, 'asked'), int(row))
-- A further vote has a place while the row has no verdict, or its query wants votes.
local wanted = not label or label == '0' or open
if own then
  wanted = replace == '1' or label == '0'
end
if not wanted then
  if asked then
    return unused()
  end
  return refuse('ALREADY_ANSWERED', { verdict = own and own[2] or label, row = row })
end

local refusal = own and refuse_correction(s, row, labeler)
if refusal then
  return refusal
end
local event = log_label(s, 'LABELED', row, verdict, labeler, n, source, answer_id, ms, provenance)
-- Remembered with the vote, also where the answer came unasked: a retraction asks again.
n = number_of_query(s, row, votes, n)
if own then
  own[2], own[3] = verdict, n
else
  votes[#votes + 1] = { labeler, verdict, n }
end
save_votes(s, row, votes)
note_answer(s, labeler, row, ms, false)
if n > 0 then
  -- The labeler's own leases on the query have done their work, on whatever stream.
  local q = get_query(s, n)
  for id, one in pairs(q.leases) do
    if one.labeler == labeler then
      end_lease(s, q, id, holder)
    end
  end
  put_query(s, q)
end
settle(s, row, n, holder)
wait_on(s, holder, waiter)
go_on(s)
return give_receipt(s, answer_id, fingerprint, true, n, event)
