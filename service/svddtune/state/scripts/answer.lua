-- Stores one verdict. A repeat gets the reply of the first time.
-- @session
-- @repeatable
-- @durable
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
-- @arg most_corrections integer: of all labelers on a row; 0 for no limit
-- @arg trace text?: traceparent of the span that the next ranking follows from
-- @reply applied flag, query integer, counts map, event text
-- @refusal ANSWER_ID_REUSED
-- @refusal UNKNOWN_QUERY
-- @refusal OBSERVATION_MISMATCH asked_row
-- @refusal LEASE_LOST
-- @refusal LABELER_WITHDRAWN
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal ALREADY_ANSWERED verdict, row
-- @refusal AWAITS_ADJUDICATION row
-- @refusal TOO_MANY_CORRECTIONS labeler, row, most
-- @refusal TOO_MANY_EVENTS row, limit, used
s.most_corrections, s.trace = args.most_corrections, args.trace
local receipt, stored = take_answer(s, {
  answer_id = args.answer_id, fingerprint = args.fingerprint, labeler = args.labeler, holder = args.holder,
  query = args.query, lease_id = args.lease_id, row = args.row, verdict = args.verdict, source = args.source,
  provenance = args.provenance, confidence = args.confidence, replace = args.replace,
}, function()
  wait_on(s, args.next_request)
  go_on(s)
end)
if stored then
  touch(s)
end
return receipt
