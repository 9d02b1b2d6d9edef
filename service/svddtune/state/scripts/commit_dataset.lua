-- Makes an uploaded dataset visible, once all its parts are there.
-- @keys dataset, index
-- @arg dataset text
-- @arg record bytes: a Dataset message
-- @arg observation_count integer
-- @arg chunks integer: number of chunks of its rows; 0 where they are in the dataset store
-- @arg stored bytes?: a StoredRows message where they are
-- @arg has_ids flag
-- @arg has_display flag
-- @reply existed flag: it was there already
-- @refusal DATASET_INCOMPLETE
local d = dataset_key(args.dataset)
if redis.call('EXISTS', d) == 1 then
  return { existed = true }
end
local parts = {}
for i = 0, args.chunks - 1 do
  parts[#parts + 1] = d .. ':x:' .. i
end
if args.has_ids then
  parts[#parts + 1] = d .. ':ids'
  parts[#parts + 1] = d .. ':rows'
end
if args.has_display then
  parts[#parts + 1] = d .. ':display'
end
for _, key in ipairs(parts) do
  -- (It expired, or was deleted meanwhile.)
  if redis.call('EXISTS', key) == 0 then
    return refuse('DATASET_INCOMPLETE')
  end
end
for _, key in ipairs(parts) do
  redis.call('PERSIST', key)
end
redis.call('HSET', d, 'record', args.record, 'n', int(args.observation_count), 'chunks', args.chunks,
  'has_ids', args.has_ids and '1' or '0', 'has_display', args.has_display and '1' or '0',
  'created_ms', int(NOW))
if args.stored then
  redis.call('HSET', d, 'stored', args.stored)
end
redis.call('ZADD', P .. 'datasets', int(NOW), args.dataset)
return { existed = false }
