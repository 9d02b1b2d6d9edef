-- A worker takes the bulk job whose turn it is.
-- ARGV: prefix, consumer, entries of the wake stream that woke it ...
-- Reply: {"entry"} in the bulk stream, the consumer's claim now; {} where no job waits.
for i = 3, #ARGV do
  redis.call('XACK', WAKE, GROUP, ARGV[i])
  redis.call('XDEL', WAKE, ARGV[i])
end
local entry = begin_bulk_job(ARGV[2])
return entry and cjson.encode({ entry = entry }) or '{}'
