-- A part of a preparation is stored: the next one is to be done.
-- @claim ends
-- @keys dataset, queue
-- @arg index integer: which part it is
-- @arg chunks integer: number of chunks stored
-- @arg following bytes: payload of the next part's job
-- @reply committed flag: the preparation goes on
local d, prep = dataset_key(job.dataset), job.about
local exists = redis.call('EXISTS', d) == 1
-- Where nobody waits for it any more, it begins anew when somebody does.
local wanted = exists and redis.call('SCARD', d .. ':waiting:' .. prep) > 0
to_chunks(wanted and 'PERSIST' or 'UNLINK', d .. ':prep:' .. prep .. ':part:' .. args.index, args.chunks)
if wanted then
  redis.call('HSET', d, 'preppart:' .. prep .. ':' .. args.index, args.chunks)
  enqueue_for_dataset('PREPARE', job.dataset, prep, args.following, true)
elseif exists then
  drop_parts(d, prep)
  redis.call('HDEL', d, 'prep:' .. prep)
end
return { committed = wanted }
