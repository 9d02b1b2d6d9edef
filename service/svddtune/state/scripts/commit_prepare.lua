-- A preparation is stored: the sessions that wait for it begin.
-- ARGV: prefix, stream, entry, consumer, deliveries, dataset id, name of the preparation, number
--   of chunks stored.
-- Reply: {"committed": true}; "gone" where the dataset was deleted meanwhile.
-- Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, prep, chunks = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local d = P .. 'd:' .. dataset
local keys = {}
for i = 0, tonumber(chunks) - 1 do
  keys[#keys + 1] = d .. ':prep:' .. prep .. ':' .. i
end
if redis.call('EXISTS', d) == 0 then
  for _, key in ipairs(keys) do
    redis.call('UNLINK', key)
  end
  return cjson.encode({ committed = false, gone = true })
end
for _, key in ipairs(keys) do
  redis.call('PERSIST', key)
end
redis.call('HSET', d, 'prep:' .. prep, 'ready', 'prepchunks:' .. prep, chunks)
drop_parts(d, prep)
for _, sid in ipairs(redis.call('SMEMBERS', d .. ':waiting:' .. prep)) do
  local s = load_session(sid)
  if s then
    begin_when_ready(s)
    touch(s)
  end
end
redis.call('DEL', d .. ':waiting:' .. prep)
return cjson.encode({ committed = true })
