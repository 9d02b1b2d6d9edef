-- A preparation is stored: the sessions that wait for it begin.
-- @claim ends
-- @keys session, dataset, queue, notices, labeling
-- @arg chunks integer: number of chunks stored
-- @reply committed flag: the dataset is still there
local d, prep = dataset_key(job.dataset), job.about
local keys = {}
for i = 0, args.chunks - 1 do
  keys[#keys + 1] = d .. ':prep:' .. prep .. ':' .. i
end
if redis.call('EXISTS', d) == 0 then
  for _, key in ipairs(keys) do
    redis.call('UNLINK', key)
  end
  return { committed = false }
end
for _, key in ipairs(keys) do
  redis.call('PERSIST', key)
end
redis.call('HSET', d, 'prep:' .. prep, 'ready', 'prepchunks:' .. prep, args.chunks)
drop_parts(d, prep)
for _, sid in ipairs(redis.call('SMEMBERS', d .. ':waiting:' .. prep)) do
  local s = load_session(sid)
  if s then
    begin_when_ready(s)
    touch(s)
  end
end
redis.call('DEL', d .. ':waiting:' .. prep)
return { committed = true }
