-- Stores one verdict. A repeat gets the reply of the first time.
-- @session
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @arg answer_id text
-- @arg fingerprint text: hash of what the answer says
-- @arg labeler text
-- @arg holder text
-- @arg query integer: the query that it answers; 0 where nobody asked
-- @arg lease_id text: the lease on that query
-- @arg row integer?: absent where only the query is named
-- @arg verdict integer: 1 inlier, -1 outlier, 0 unsure
-- @arg source text: reference to where the verdict stands
-- @arg provenance text: the rule behind the verdict; "" for somebody's own judgement
-- @arg confidence text: probability that it is right by the labeler's word; "" where it gave none
-- @arg replace flag: it may replace an earlier vote
-- @arg next_request map?: what the holder asks for next, a LeaseRequest
-- @reply applied flag, query integer, counts map, event text
-- @refusal ANSWER_ID_REUSED
-- @refusal UNKNOWN_QUERY
-- @refusal OBSERVATION_MISMATCH asked_row
-- @refusal LEASE_LOST
-- @refusal LABELER_WITHDRAWN
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal ALREADY_ANSWERED verdict, row
-- @refusal TOO_MANY_CORRECTIONS labeler, row, most
local before = seen_before(s, args.answer_id, args.fingerprint)
if before then
  return before
end

local labeler, holder, row, verdict, n = args.labeler, args.holder, args.row, int(args.verdict), args.query
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
  if not issued_to(asked, args.lease_id, labeler) then
    return refuse('LEASE_LOST')
  end
end
if withdrawn_labelers(s)[labeler] then
  return refuse('LABELER_WITHDRAWN')
end

-- From lease to answer, without the time in which the labeler answered something else.
local lease = asked and asked.leases[args.lease_id]
local ms = lease and NOW - math.max(lease.since, labeler_info(s, labeler).last)

local function log_as(kind)
  return log_label(s, kind, { row = row, verdict = verdict, labeler = labeler, query = n,
    source = args.source, answer_id = args.answer_id, ms = ms, provenance = args.provenance,
    confidence = args.confidence })
end

local function receipt(applied, event)
  return give_receipt(s, args.answer_id, args.fingerprint, applied, n, event)
end

local function unused()
  return refuse_correction(s, row, labeler) or receipt(false, log_as('UNUSED'))
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
  local event = log_as('REPEATED')
  close_query(s, asked, 'settled', holder)
  note_answer(s, labeler, row, ms, true)
  wait_on(s, args.next_request)
  go_on(s)
  return receipt(true, event)
end

local votes = load_votes(s, row)
local own = vote_of(votes, labeler)
local existing = redis.call('HGET', part(s, 'labels'), int(row))
local label = existing and string.match(existing, '^%S+')
local open = redis.call('HGET', part(s, 'asked'), int(row))
-- A further vote has a place while the row has no verdict, or its query wants votes.
local wanted = not label or label == '0' or open
if own then
  wanted = args.replace or label == '0'
end
if not wanted then
  if asked then
    return unused()
  end
  return refuse('ALREADY_ANSWERED', { verdict = tonumber(own and own[2] or label), row = row })
end

local refusal = own and refuse_correction(s, row, labeler)
if refusal then
  return refusal
end
local event = log_as('LABELED')
-- Remembered with the vote, also where the answer came unasked: a retraction asks again.
n = number_of_query(s, row, votes, n)
if own then
  own[2], own[3], own[4] = verdict, n, args.confidence
else
  votes[#votes + 1] = { labeler, verdict, n, args.confidence }
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
wait_on(s, args.next_request)
go_on(s)
return receipt(true, event)
