-- Adds a part to an upload that may be resumed.
-- @keys upload
-- @arg upload text
-- @arg key text: what stands for it in its project
-- @arg writer text: as it was opened
-- @arg part bytes: the rows, or the name of the object that has them
-- @arg rows integer: number of rows with this part
-- @arg ttl_s integer: seconds to live
-- @reply stored flag
-- @refusal UPLOAD_NOT_FOUND upload
-- @refusal UPLOAD_TAKEN_OVER upload
local u = P .. 'u:' .. args.key
local writer = redis.call('HGET', u, 'writer')
if not writer then
  return refuse('UPLOAD_NOT_FOUND', { upload = args.upload })
end
if writer ~= args.writer then
  return refuse('UPLOAD_TAKEN_OVER', { upload = args.upload })
end
redis.call('RPUSH', u .. ':parts', args.part)
redis.call('HSET', u, 'rows', int(args.rows))
redis.call('EXPIRE', u, args.ttl_s)
redis.call('EXPIRE', u .. ':parts', args.ttl_s)
return { stored = true }
