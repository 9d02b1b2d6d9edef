-- Removes the parts of an upload: its dataset is stored, or it can never succeed.
-- @keys upload
-- @arg key text: what stands for it in its project
-- @arg writer text: as it was opened
-- @arg dataset text?: the stored dataset
-- @arg ttl_s integer: seconds for which the dataset is remembered
-- @reply closed flag: false where another writer has it now
local u = P .. 'u:' .. args.key
if redis.call('HGET', u, 'writer') ~= args.writer then
  return { closed = false }
end
redis.call('UNLINK', u .. ':parts')
if args.dataset then
  redis.call('HSET', u, 'dataset', args.dataset)
  redis.call('EXPIRE', u, args.ttl_s)
else
  redis.call('UNLINK', u)
end
return { closed = true }
