-- A job is not needed any more.
-- ARGV: prefix, stream, entry, consumer, deliveries.
-- Reply: {"dropped": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
return cjson.encode({ dropped = true })
