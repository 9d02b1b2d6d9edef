-- A part of a preparation is stored: the next one is to be done.
-- ARGV: prefix, stream, entry, consumer, deliveries, dataset id, name of the preparation, index
--   of the part, number of chunks stored, payload of the next part's job.
-- Reply: {"committed"}; "gone" where the dataset was deleted meanwhile.
-- Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, prep, index, chunks, following = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local d = dataset_key(dataset)
-- Without a dataset the chunks expire by themselves.
if redis.call('EXISTS', d) == 0 then
  return cjson.encode({ committed = false, gone = true })
end
-- Where nobody waits for it any more, it begins anew when somebody does.
if redis.call('SCARD', d .. ':waiting:' .. prep) == 0 then
  drop_parts(d, prep)
  redis.call('HDEL', d, 'prep:' .. prep)
  return cjson.encode({ committed = false })
end
for i = 0, tonumber(chunks) - 1 do
  redis.call('PERSIST', d .. ':prep:' .. prep .. ':part:' .. index .. ':' .. i)
end
redis.call('HSET', d, 'preppart:' .. prep .. ':' .. index, chunks)
enqueue_for_dataset('PREPARE', dataset, prep, following, true)
return cjson.encode({ committed = true })
