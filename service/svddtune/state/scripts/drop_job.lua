-- A job is not needed any more. (A session that asks again by now gets another ranking.)
-- ARGV: prefix, stream, entry, consumer, deliveries, then for ATLAS: dataset id, index of the part.
-- Reply: {"dropped": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, index = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
local job = job_at(stream, entry)
finish_job(stream, entry)
if dataset then
  local d = dataset_key(dataset)
  redis.call('SREM', d .. ':atlasflying', index)
  -- Somebody may need it again since the worker looked.
  if redis.call('HGET', d, 'atlas') == 'building' then
    add_atlas_jobs(d, dataset)
  end
end
local s = job and job.kind == 'SUGGEST' and load_session(job.session)
if s then
  set(s, 'suggesting', '0')
  go_on(s)
  touch(s)
end
return cjson.encode({ dropped = true })
