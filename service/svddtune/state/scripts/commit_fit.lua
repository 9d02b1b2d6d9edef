-- Some cells are fitted; the last ones of a grid add the ESTIMATE job.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, attempt, index, output,
--   name of the label-free rule or "": what it says of a dataset is kept for other sessions.
-- Reply: {"committed"}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, attempt, index, output, rule =
  unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local s = load_session(sid)
if s and rule ~= '' then
  redis.call('HSET', dataset_key(s.dataset) .. ':rules', rule, output)
end
if not s or s.state ~= 'ESTIMATING' or s.attempt ~= attempt then
  return cjson.encode({ committed = false })
end
local fits = part(s, 'fits')
if redis.call('HSETNX', fits, index, output) == 1 then
  local done = redis.call('HLEN', fits) - 2
  if done == tonumber(redis.call('HGET', fits, 'total')) then
    enqueue(BULK, 'ESTIMATE', s, s.job_estimate)
  end
  touch(s)
end
return cjson.encode({ committed = true })
