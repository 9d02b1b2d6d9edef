-- Deletes a dataset that no session uses, with its preparations and atlases.
-- @by_request
-- @durable
-- @keys dataset, index, queue, retention
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
forget_dataset(args.dataset)
return { deleted = true }
