-- A result is planned: its FIT jobs are added or, where it needs none, its ESTIMATE job.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, attempt, plan, FIT payloads ...
-- Reply: {"committed"}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, attempt, plan = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local s = load_session(sid)
if not s or s.state ~= 'ESTIMATING' or s.attempt ~= attempt then
  return cjson.encode({ committed = false })
end
redis.call('DEL', part(s, 'fits'))
redis.call('HSET', part(s, 'fits'), 'plan', plan, 'total', int(#ARGV - 8))
for i = 9, #ARGV do
  enqueue(BULK, 'FIT', s, ARGV[i])
end
if #ARGV == 8 then
  enqueue(BULK, 'ESTIMATE', s, s.job_estimate)
end
touch(s)
return cjson.encode({ committed = true })
