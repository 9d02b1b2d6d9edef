-- Drops what an earlier version (layout 2) computed of a dataset: it is made again where it is needed.
-- @repeatable
-- @keys dataset
-- @arg dataset text
local d = dataset_key(args.dataset)
for _, field in ipairs(redis.call('HKEYS', d)) do
  local k = string.match(field, '^prep:(%d+)$')
  if k then
    redis.call('UNLINK', d .. ':waiting:' .. k)
    redis.call('HDEL', d, field)
  end
  local kind, name = string.match(field, '^(%a+):(%d+)$')
  local chunks_of = ({ prepchunks = ':prep:', atlaspart = ':atlas:' })[kind]
  if chunks_of then
    to_chunks('UNLINK', d .. chunks_of .. name, redis.call('HGET', d, field))
  end
  if chunks_of or kind == 'atlasjob' then
    redis.call('HDEL', d, field)
  end
end
redis.call('HDEL', d, 'atlas', 'atlasparts', 'atlasdone')
redis.call('UNLINK', d .. ':atlastodo', d .. ':atlasflying', d .. ':atlasusers')
