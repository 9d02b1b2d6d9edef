-- The result is computed: the session is complete.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, attempt, gamma, alignment,
--   result, pieces of the model ...
-- Reply: {"committed", "revision"}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, attempt, gamma, alignment, result = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local s = load_session(sid)
if not s or s.state ~= 'ESTIMATING' or s.attempt ~= attempt then
  return cjson.encode({ committed = false })
end
add(s, 'revision', 1)
redis.call('SET', part(s, 'result:' .. s.revision), result)
for i = 11, #ARGV do
  redis.call('RPUSH', part(s, 'model:' .. s.revision), ARGV[i])
end
redis.call('DEL', part(s, 'fits'))
leave_atlas(s)
set(s, 'state', 'COMPLETED', 'gamma', gamma, 'alignment', alignment)
touch(s)
return cjson.encode({ committed = true, revision = tonumber(s.revision) })
