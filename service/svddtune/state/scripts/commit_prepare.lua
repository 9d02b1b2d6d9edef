-- A preparation is stored: the sessions that wait for it begin.
-- @claim ends
-- @keys session, dataset, queue, notices, labeling
-- @arg chunks integer: number of chunks stored
-- @arg portrait integer: number of chunks of the dataset's portrait; 0 where it is not stored now
-- @reply committed flag: the dataset is still there
keep_portrait(job.dataset, args.portrait)
local d, prep = dataset_key(job.dataset), job.about
if redis.call('EXISTS', d) == 0 then
  to_chunks('UNLINK', d .. ':prep:' .. prep, args.chunks)
  return { committed = false }
end
to_chunks('PERSIST', d .. ':prep:' .. prep, args.chunks)
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
