-- Deletes a dataset that no session uses, with its preparations and atlases.
-- @keys dataset, index, queue
-- @arg dataset text
-- @reply deleted flag
-- @refusal DATASET_NOT_FOUND
-- @refusal DATASET_IN_USE sessions
local d = dataset_key(args.dataset)
if redis.call('EXISTS', d) == 0 then
  return refuse('DATASET_NOT_FOUND')
end
local users = redis.call('SCARD', d .. ':sessions')
if users > 0 then
  return refuse('DATASET_IN_USE', { sessions = users })
end
to_chunks('UNLINK', d .. ':x', redis.call('HGET', d, 'chunks'))
drop_parts(d)
for _, field in ipairs(redis.call('HKEYS', d)) do
  local k = string.match(field, '^prepchunks:(.+)$')
  if k then
    to_chunks('UNLINK', d .. ':prep:' .. k, redis.call('HGET', d, field))
  end
end
for _, range in ipairs(redis.call('SMEMBERS', d .. ':atlases')) do
  local a = atlas_key(args.dataset, range)
  for _, field in ipairs(redis.call('HKEYS', a)) do
    local index = string.match(field, '^part:(%d+)$')
    if index then
      to_chunks('UNLINK', a .. ':' .. index, redis.call('HGET', a, field))
    end
  end
  redis.call('UNLINK', a, a .. ':users', a .. ':flying')
end
redis.call('UNLINK', d, d .. ':atlases', d .. ':rules', d .. ':ids', d .. ':rows', d .. ':display',
  later_jobs(BULK, args.dataset))
redis.call('ZREM', P .. 'datasets', args.dataset)
return { deleted = true }
