-- Stores a part of an upload, to expire unless its dataset is committed. The parts of a dataset
-- that is committed already are left alone: they must not begin to expire.
-- ARGV: prefix, dataset id, name of the part, seconds to live, then a string value or pairs of
--   hash fields and values.
-- Reply: {"stored"}.
local _, id, name, ttl = unpack(ARGV)
local d = P .. 'd:' .. id
if redis.call('EXISTS', d) == 1 then
  return cjson.encode({ stored = false })
end
local key = d .. ':' .. name
if #ARGV == 5 then
  redis.call('SET', key, ARGV[5])
else
  redis.call('HSET', key, unpack(ARGV, 5))
end
redis.call('EXPIRE', key, ttl)
return cjson.encode({ stored = true })
