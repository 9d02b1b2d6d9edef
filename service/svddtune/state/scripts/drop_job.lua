-- A job is not needed any more.
-- ARGV: prefix, stream, entry, consumer, deliveries, then for ATLAS: dataset id, index of the part.
-- Reply: {"dropped": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, index = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
if dataset then
  redis.call('SREM', dataset_key(dataset) .. ':atlasflying', index)
end
return cjson.encode({ dropped = true })
