-- A part of a preparation is stored: the next one is to be done.
-- ARGV: prefix, stream, entry, consumer, deliveries, dataset id, name of the preparation, index
--   of the part, number of chunks stored, payload of the next part's job.
-- Reply: {"committed": true where the preparation goes on}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, prep, index, chunks, following = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local d = dataset_key(dataset)
local exists = redis.call('EXISTS', d) == 1
-- Where nobody waits for it any more, it begins anew when somebody does.
local wanted = exists and redis.call('SCARD', d .. ':waiting:' .. prep) > 0
for i = 0, tonumber(chunks) - 1 do
  local key = d .. ':prep:' .. prep .. ':part:' .. index .. ':' .. i
  redis.call(wanted and 'PERSIST' or 'UNLINK', key)
end
if wanted then
  redis.call('HSET', d, 'preppart:' .. prep .. ':' .. index, chunks)
  enqueue_for_dataset('PREPARE', dataset, prep, following, true)
elseif exists then
  drop_parts(d, prep)
  redis.call('HDEL', d, 'prep:' .. prep)
end
return cjson.encode({ committed = wanted })
