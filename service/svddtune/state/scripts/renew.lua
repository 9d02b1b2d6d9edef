-- The worker is alive: its claim starts anew.
-- ARGV: prefix, stream, entry, consumer, deliveries.
-- Reply: {"renewed": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
redis.call('XCLAIM', stream, GROUP, consumer, '0', entry, 'JUSTID')
return cjson.encode({ renewed = true })
