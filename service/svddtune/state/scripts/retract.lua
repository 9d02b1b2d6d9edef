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
local prior = redis.call('HGET', part(s, 'answers'), answer_id)
if prior then
  local known = cjson.decode(prior)
  if known.fingerprint ~= fingerprint then
    return refuse('ANSWER_ID_REUSED')
  end
  return known.receipt
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
local receipt = cjson.encode({ applied = true, query = tonumber(n), counts = counts(s),
  event = event })
redis.call('HSET', part(s, 'answers'), answer_id,
  cjson.encode({ fingerprint = fingerprint, receipt = receipt }))
touch(s)
return receipt
