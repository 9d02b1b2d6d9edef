-- Stores a part of an upload, to expire unless its dataset is committed. The parts of a dataset
-- that is committed already are left alone: they must not begin to expire.
-- @repeatable
-- @keys dataset
-- @arg dataset text
-- @arg part text: its key, after that of the dataset
-- @arg ttl_s integer: seconds to live
-- @arg value bytes?: of a part that is a string
-- @arg fields list?: of a part that is a hash: field, value, and so on
-- @reply stored flag
local d = dataset_key(args.dataset)
if redis.call('EXISTS', d) == 1 then
  return { stored = false }
end
local key = d .. ':' .. args.part
if args.value then
  redis.call('SET', key, args.value)
else
  redis.call('HSET', key, unpack(args.fields))
end
redis.call('EXPIRE', key, args.ttl_s)
return { stored = true }
