-- Withdraws a labeler's vote on a row. Where a query asked for it, the query is open again, in front.
-- @session
-- @repeatable
-- @durable
-- @keys session, dataset, queue, notices, labeling
-- @arg answer_id text
-- @arg fingerprint text: hash of what is retracted
-- @arg labeler text: whose vote it is
-- @arg row integer
-- @arg speaker text: the labeler that says so
-- @arg most_corrections integer: of all labelers on a row; 0 for no limit
-- @reply applied flag, query integer, counts map, event text
-- @refusal ANSWER_ID_REUSED
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal NOT_LABELED
-- @refusal TOO_MANY_CORRECTIONS labeler, row, most
-- @refusal TOO_MANY_EVENTS row, limit, used
s.most_corrections = args.most_corrections
local before = seen_before(s, args.speaker, args.answer_id, args.fingerprint)
if before then
  return before
end
if not takes_labels(s) then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
local labeler, row, speaker = args.labeler, args.row, args.speaker
local votes = load_votes(s, row)
local vote, position = vote_of(votes, labeler)
local control = not vote and is_control(s, row)
if not vote and not control then
  return refuse('NOT_LABELED')
end
local refusal = refuse_correction(s, row, speaker)
if refusal then
  return refusal
end

local source = speaker ~= labeler and 'by ' .. speaker or ''
if control then
  -- Who takes back what it said of a control item is unsure of it.
  local event = log_label(s, 'REPEATED', { control = true, row = row, verdict = '0', labeler = labeler,
    source = source, answer_id = args.answer_id })
  local receipt = give_receipt(s, speaker, args.answer_id, args.fingerprint, true, 0, event)
  touch(s)
  return receipt
end
local event = log_label(s, 'RETRACTED', { row = row, verdict = vote[2], labeler = labeler, query = vote[3],
  source = source, answer_id = args.answer_id })
local n = number_of_query(s, row, votes)
table.remove(votes, position)
save_votes(s, row, votes)
end_repeats(s, row, labeler)
settle(s, row, n)
go_on(s)
local receipt = give_receipt(s, speaker, args.answer_id, args.fingerprint, true, n, event)
touch(s)
return receipt
