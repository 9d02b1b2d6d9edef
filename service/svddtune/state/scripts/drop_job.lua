-- A job is not needed any more. (A session that asks again by now gets another ranking.)
-- @claim ends
-- @keys session, dataset, queue, notices, labeling
-- @reply dropped flag
if job.kind == 'ATLAS' then
  local range, index = atlas_part(job)
  local a = atlas_key(job.dataset, range)
  redis.call('SREM', a .. ':flying', index)
  -- Somebody may need it again since the worker looked.
  if redis.call('HGET', a, 'state') == 'building' then
    add_atlas_jobs(job.dataset, range)
  end
end
if job.kind == 'PREPARE' then
  local d, prep = dataset_key(job.dataset), job.about
  if redis.call('SCARD', d .. ':waiting:' .. prep) > 0 then
    enqueue_for_dataset('PREPARE', job.dataset, prep, job.payload, true)
  elseif redis.call('EXISTS', d) == 1 then
    drop_parts(d, prep)
    redis.call('HDEL', d, 'prep:' .. prep)
  end
end
local s = (job.kind == 'SUGGEST' or job.kind == 'REFINE') and load_session(job.session)
if s and job.kind == 'REFINE' then
  set(s, 'refining', '0')
elseif s then
  set(s, 'suggesting', '0')
  go_on(s)
  touch(s)
end
return { dropped = true }
