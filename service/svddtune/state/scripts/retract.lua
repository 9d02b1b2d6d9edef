-- Withdraws the label of a row. Where a query asked for it, the query is open again, in front.
-- ARGV: prefix, session id, answer id, fingerprint, labeler, row.
-- Reply and repeats: as in answer.lua.
-- Refusals: SESSION_NOT_FOUND, ANSWER_ID_REUSED, SESSION_NOT_ACTIVE {state}, NOT_LABELED {row}.
local _, sid, answer_id, fingerprint, labeler, row = unpack(ARGV)
row = tonumber(row)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local before = seen_before(s, answer_id, fingerprint)
if before then
  return before
end
if s.state ~= 'LABELING' and s.state ~= 'PAUSED' and s.state ~= 'PREPARING' then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
local existing = redis.call('HGET', part(s, 'labels'), int(row))
if not existing then
  return refuse('NOT_LABELED', { row = row })
end

local verdict, n = string.match(existing, '^(%S+) (%S+)$')
redis.call('HDEL', part(s, 'labels'), int(row))
redis.call('SREM', part(s, 'dropped'), int(row))
add(s, VERDICT_FIELD[verdict], -1)
if tonumber(n) > 0 then
  reopen_query(s, get_query(s, n), false)
end
local event = log_label(s, 'RETRACTED', row, verdict, labeler, n, '', answer_id)
advance(s)
return give_receipt(s, answer_id, fingerprint, true, n, event)
