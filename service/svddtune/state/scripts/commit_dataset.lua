-- Makes an uploaded dataset visible, once all its parts are there.
-- @durable
-- @keys dataset, index, retention
-- @arg dataset text
-- @arg record bytes: a Dataset message
-- @arg project text?: nothing for the default one
-- @arg limits map: of the project, by kind: the limit, and what it has in other partitions
-- @arg size integer: bytes of its rows
-- @arg observation_count integer
-- @arg chunks integer: number of chunks of its rows; 0 where they are in the dataset store
-- @arg stored bytes?: a StoredRows message where they are
-- @arg has_ids flag
-- @arg has_display flag
-- @reply existed flag: it was there already
-- @refusal DATASET_INCOMPLETE
-- @refusal QUOTA_EXCEEDED quota, limit, used, project
local d = dataset_key(args.dataset)
if redis.call('EXISTS', d) == 1 then
  mark_unused(args.dataset)
  return { existed = true }
end
local above = refuse_above(args.project, args.limits, { datasets = 1, bytes = args.size })
if above then
  return above
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
  'created_ms', int(NOW), 'counted', int(args.size))
count_usage(args.project, { datasets = 1, bytes = args.size })
if args.stored then
  redis.call('HSET', d, 'stored', args.stored)
end
redis.call('ZADD', P .. 'datasets', int(NOW), args.dataset)
if args.project then
  redis.call('HSET', d, 'project', args.project)
  redis.call('ZADD', own_index('datasets', args.project), int(NOW), args.dataset)
end
mark_unused(args.dataset)
return { existed = false }
