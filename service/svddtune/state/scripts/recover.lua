-- Takes over one job whose worker has been silent too long.
-- ARGV: prefix, stream, consumer, longest silence in ms.
-- Reply: {} where there is none, else {"entry", "deliveries"}: the caller's claim now.
local _, stream, consumer, silence = unpack(ARGV)
local idle = redis.call('XPENDING', stream, GROUP, 'IDLE', silence, '-', '+', 1)
if #idle == 0 then
  return '{}'
end
local entry = idle[1][1]
local taken = redis.call('XCLAIM', stream, GROUP, consumer, silence, entry)
if #taken == 0 or not taken[1] then
  -- The entry itself is gone; so should its claim be.
  redis.call('XACK', stream, GROUP, entry)
  return '{}'
end
return cjson.encode({ entry = entry, deliveries = idle[1][4] + 1 })
