-- A job could not be done. It is tried again at once until it was delivered too often (or where it
-- can never succeed); then it becomes a dead letter and its session, or all that wait for it, say so.
-- ARGV: prefix, stream, entry, consumer, deliveries, most deliveries (0: do not try again), reason,
--   message.
-- Reply: {"dead"}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, most, reason, message = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
local found = redis.call('XRANGE', stream, entry, entry)
if #found == 0 then
  redis.call('XACK', stream, GROUP, entry)
  return cjson.encode({ dead = false })
end
if tonumber(deliveries) < tonumber(most) then
  -- Looks abandoned for an hour, so the next worker that recovers jobs takes it.
  redis.call('XCLAIM', stream, GROUP, consumer, '0', entry, 'IDLE', '3600000', 'JUSTID')
  return cjson.encode({ dead = false })
end
local job = {}
for i = 1, #found[1][2], 2 do
  job[found[1][2][i]] = found[1][2][i + 1]
end
redis.call('XADD', DEAD, 'MAXLEN', '~', '1000', '*', 'kind', job.kind, 'session', job.session,
  'dataset', job.dataset, 'payload', job.payload, 'stream', stream, 'deliveries', deliveries,
  'reason', reason, 'message', message)
finish_job(stream, entry)
if job.kind == 'PREPARE' then
  local d = P .. 'd:' .. job.dataset
  for _, key in ipairs(redis.call('HKEYS', d)) do
    local k = string.match(key, '^prep:(%d+)$')
    if k and redis.call('HGET', d, key) == 'queued' then
      redis.call('HSET', d, key, 'failed')
      for _, sid in ipairs(redis.call('SMEMBERS', d .. ':waiting:' .. k)) do
        local s = load_session(sid)
        if s and s.state == 'PREPARING' then
          fail_session(s, reason, message)
        end
      end
      redis.call('DEL', d .. ':waiting:' .. k)
    end
  end
elseif job.kind == 'ATLAS' then
  local d = dataset_key(job.dataset)
  redis.call('DEL', d .. ':atlastodo', d .. ':atlasflying')
  if redis.call('EXISTS', d) == 1 then
    redis.call('HSET', d, 'atlas', 'failed')
    for _, sid in ipairs(redis.call('SMEMBERS', d .. ':atlasusers')) do
      local s = load_session(sid)
      if s and s.state == 'PREPARING' and s.needs_atlas == '1' then
        fail_session(s, reason, message)
      end
    end
  end
elseif job.kind ~= 'PREVIEW' then
  local s = load_session(job.session)
  if s and job.kind == 'SUGGEST' then
    set(s, 'suggesting', '0')
  end
  local asks = s and (s.state == 'LABELING' or s.state == 'PAUSED')
  -- A session that needs the outcome no more goes on without it.
  if s and (job.kind == 'SUGGEST' and asks or job.kind ~= 'SUGGEST' and s.state == 'ESTIMATING') then
    fail_session(s, reason, message)
  end
end
return cjson.encode({ dead = true })
