-- Makes a session of a backup visible and sets it going. Its parts were written under other names, where
-- they expire unless this is called. What was computed of its dataset is made again where it is missing, so
-- a session that was labeling is PREPARING for a while.
-- @keys session, dataset, index, queue, notices, labeling, restore, retention
-- @arg session text
-- @arg dataset text
-- @arg fields map: of its hash; with `counted`
-- @arg parts map: name of a part, after the session's key -> key where it was written
-- @arg secret text: random; lease ids from now on follow from it, so that none is given out twice
-- @arg jobs map: payloads of its jobs: prepare, suggest, refine, plan and estimate
-- @arg range text: name of its range of gamma
-- @arg atlas_jobs list: payloads of the jobs that make the parts of its atlas
-- @arg replace flag: a session of this id is replaced
-- @reply outcome text: restored, exists, incomplete (parts have expired) or orphan (there is no dataset)
local present = load_session(args.session)
if present and not args.replace then
  return { outcome = 'exists' }
end
if redis.call('EXISTS', dataset_key(args.dataset)) == 0 then
  return { outcome = 'orphan' }
end
if not has_staged(args.parts) then
  return { outcome = 'incomplete' }
end
if present then
  forget_session(present)
end
local key = P .. 's:' .. args.session
take_staged(key, args.parts)
for name, value in pairs(args.fields) do
  redis.call('HSET', key, name, value)
end
local s = load_session(args.session)
set(s, 'id', args.session, 'secret', args.secret)
for kind, payload in pairs(args.jobs) do
  set(s, 'job_' .. kind, payload)
end
redis.call('SADD', dataset_key(s.dataset) .. ':sessions', s.id)
mark_used(s.dataset)
redis.call('ZADD', P .. 'sessions', s.created_ms, s.id)
count_usage(s.project, { sessions = 1 })
local own = own_index('sessions', s.project)
if own then
  redis.call('ZADD', own, s.created_ms, s.id)
end
declare_atlas(s.dataset, args.range, args.atlas_jobs)
if takes_labels(s) or s.state == 'ESTIMATING' then
  -- No job of the server that was backed up is done here.
  set(s, 'suggesting', '0', 'refining', '0', 'ranked_rev', '', 'exhausted_rev', '')
  if s.state ~= 'PAUSED' then
    set(s, 'state', 'PREPARING')
  end
  prepare_session(s)
end
if has_ended(s) then
  redis.call('HDEL', s.key, 'ended_ms')
  -- It is kept for its whole time again.
  compact_session(s, NOW)
end
touch(s)
return { outcome = 'restored' }
