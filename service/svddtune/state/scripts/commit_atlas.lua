-- A part of an atlas is stored; with the last one the sessions begin that wait for it.
-- @claim ends
-- @keys session, dataset, queue, notices, labeling
-- @arg chunks integer: number of chunks stored
-- @reply committed flag: the dataset is still there
local range, index = atlas_part(job)
local a = atlas_key(job.dataset, range)
if redis.call('EXISTS', a) == 0 then
  to_chunks('UNLINK', a .. ':' .. index, args.chunks)
  redis.call('DEL', a .. ':flying')
  return { committed = false }
end
to_chunks('PERSIST', a .. ':' .. index, args.chunks)
redis.call('SREM', a .. ':flying', index)
if redis.call('HSETNX', a, 'part:' .. index, args.chunks) == 1 then
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
return { committed = true }
