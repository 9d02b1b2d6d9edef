-- A job is not needed any more. (A session that asks again by now gets another ranking.)
-- ARGV: prefix, stream, entry, consumer, deliveries, then for ATLAS: dataset id, name of the
--   range, index of the part.
-- Reply: {"dropped": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, range, index = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
local job = job_at(stream, entry)
finish_job(stream, entry)
if dataset then
  local a = atlas_key(dataset, range)
  redis.call('SREM', a .. ':flying', index)
  -- Somebody may need it again since the worker looked.
  if redis.call('HGET', a, 'state') == 'building' then
    add_atlas_jobs(dataset, range)
  end
end
local s = job and job.kind == 'SUGGEST' and load_session(job.session)
if s then
  set(s, 'suggesting', '0')
  go_on(s)
  touch(s)
end
return cjson.encode({ dropped = true })
