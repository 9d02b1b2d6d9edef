-- Begins an upload that may be resumed, or takes it over: from now on only this writer may add to it.
-- One that is complete begins again, because its dataset may have been deleted.
-- @keys upload
-- @arg upload text
-- @arg key text: what stands for it in its project
-- @arg header text: SHA-256 of its header
-- @arg writer text: a new name
-- @arg outside flag: the rows of one that begins go to the dataset store
-- @arg ttl_s integer: seconds to live
-- @reply rows integer: number of rows that it has
-- @reply outside flag: whether they are in the dataset store
-- @reply first text: the writer with which it began
-- @refusal UPLOAD_ID_REUSED upload
local u = P .. 'u:' .. args.key
local known = redis.call('HMGET', u, 'header', 'dataset', 'rows', 'outside', 'first')
if known[1] and known[1] ~= args.header then
  return refuse('UPLOAD_ID_REUSED', { upload = args.upload })
end
local rows, outside, first = tonumber(known[3]), known[4] == '1', known[5]
if not known[1] or known[2] then
  rows, outside, first = 0, args.outside, args.writer
  redis.call('UNLINK', u, u .. ':parts')
  redis.call('HSET', u, 'header', args.header, 'rows', '0', 'outside', outside and '1' or '0',
    'first', first)
end
redis.call('HSET', u, 'writer', args.writer)
redis.call('EXPIRE', u, args.ttl_s)
redis.call('EXPIRE', u .. ':parts', args.ttl_s)
return { rows = rows, outside = outside, first = first }
