-- A part of an atlas is stored; with the last one the sessions begin that wait for it.
-- ARGV: prefix, stream, entry, consumer, deliveries, dataset id, name of the range, index of
--   the part, number of chunks stored.
-- Reply: {"committed": true}; "gone" where the dataset was deleted meanwhile.
-- Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, range, index, chunks = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local a = atlas_key(dataset, range)
local keys = {}
for i = 0, tonumber(chunks) - 1 do
  keys[#keys + 1] = a .. ':' .. index .. ':' .. i
end
if redis.call('EXISTS', a) == 0 then
  for _, key in ipairs(keys) do
    redis.call('UNLINK', key)
  end
  redis.call('DEL', a .. ':flying')
  return cjson.encode({ committed = false, gone = true })
end
for _, key in ipairs(keys) do
  redis.call('PERSIST', key)
end
redis.call('SREM', a .. ':flying', index)
if redis.call('HSETNX', a, 'part:' .. index, chunks) == 1 then
  redis.call('HINCRBY', a, 'done', 1)
end
local done = redis.call('HGET', a, 'done')
local complete = done == redis.call('HGET', a, 'parts')
if complete then
  redis.call('HSET', a, 'state', 'ready')
end
for _, sid in ipairs(redis.call('SMEMBERS', a .. ':users')) do
  local s = load_session(sid)
  if s then
    set(s, 'atlas_done', done)
    if complete then
      begin_when_ready(s)
    end
    touch(s)
  end
end
return cjson.encode({ committed = true })
