-- Makes a dataset of a backup visible, with its date. Its parts were written under other names, where they
-- expire unless this is called.
-- @keys dataset, index, restore, retention
-- @arg dataset text
-- @arg fields map: of its hash; with `counted`
-- @arg parts map: name of a part, after the dataset's key -> key where it was written
-- @reply existed flag: it was there already, and remains
-- @reply incomplete flag: parts have expired
local d = dataset_key(args.dataset)
if redis.call('EXISTS', d) == 1 then
  return { existed = true, incomplete = false }
end
if not take_staged(d, args.parts) then
  return { existed = false, incomplete = true }
end
for name, value in pairs(args.fields) do
  redis.call('HSET', d, name, value)
end
redis.call('ZADD', P .. 'datasets', args.fields.created_ms, args.dataset)
count_usage(args.fields.project, { datasets = 1, bytes = tonumber(args.fields.counted) })
local own = own_index('datasets', args.fields.project)
if own then
  redis.call('ZADD', own, args.fields.created_ms, args.dataset)
end
mark_unused(args.dataset)
return { existed = false, incomplete = false }
