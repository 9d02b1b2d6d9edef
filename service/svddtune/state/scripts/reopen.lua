-- Asks again about a row that somebody voted on, or that was left out. All votes on it are retracted, and
-- its query is open again, in front; a row that nobody was asked about gets a query.
-- @session
-- @by_request
-- @durable
-- @keys session, dataset, queue, notices, labeling
-- @arg row integer
-- @arg speaker text: who says so
-- @arg explanation bytes: an Explanation message, for a query that has none
-- @arg most_corrections integer: of all labelers on a row; 0 for no limit
-- @reply query integer, votes integer: number of the query, and of the votes that are retracted
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal NOTHING_TO_REOPEN
-- @refusal TOO_MANY_CORRECTIONS labeler, row, most
-- @refusal TOO_MANY_EVENTS row, limit, used
s.most_corrections = args.most_corrections
local row, speaker = args.row, args.speaker
if not takes_labels(s) then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
local votes = load_votes(s, row)
if #votes == 0 and redis.call('SISMEMBER', part(s, 'dropped'), int(row)) == 0 or is_control(s, row) then
  return refuse('NOTHING_TO_REOPEN')
end
local refusal = refuse_correction(s, row, speaker)
if refusal then
  return refusal
end

local n = number_of_query(s, row, votes)
-- (Whoever folds the log needs to know no more than retractions.)
for _, vote in ipairs(votes) do
  log_label(s, 'RETRACTED', { row = row, verdict = vote[2], labeler = vote[1], query = vote[3],
    source = 'reopened by ' .. speaker })
end
save_votes(s, row, {})
redis.call('SREM', part(s, 'dropped'), int(row))
end_repeats(s, row)
if n == 0 then
  local q = make_query(s, row, 0)
  put_query(s, q)
  n = q.n
end
redis.call('HSETNX', part(s, 'explanations'), int(n), args.explanation)
redis.call('XADD', part(s, 'events'), '*', 'kind', 'REOPENED', 'row', int(row), 'query', int(n))
settle(s, row, n)
go_on(s)
touch(s)
return { query = n, votes = #votes }
