-- Brings a session of an earlier version (layout 2) to this one. Labels, queries and leases stay; what
-- was computed of its dataset is made again, so a session that was labeling is PREPARING for a while.
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @arg session text
-- @arg preparation text: name of the dataset's preparation that it needs
-- @arg range text: name of its range of gamma
-- @arg job_prepare bytes: payload of the job that makes the preparation
-- @arg job_refine bytes: payload of the job that compares the detectors
-- @arg scaling integer: the ScalingKind that its gamma belongs to; 0 where it has none
-- @arg atlas_jobs list: payloads of the jobs that make the parts of its atlas
local s = load_session(args.session)
if not s or s.prep then
  return
end
redis.call('HDEL', s.key, 'k')
set(s, 'prep', args.preparation, 'range', args.range, 'job_prepare', args.job_prepare,
  'job_refine', args.job_refine, 'detectors', '', 'detectors_total', '0', 'refining', '0', 'atlas_done', '0',
  'atlas_parts', int(#args.atlas_jobs), 'scaling', int(args.scaling))
declare_atlas(s.dataset, args.range, args.atlas_jobs)
-- Nobody waits: all processes of the earlier version have ended.
redis.call('DEL', part(s, 'waiting'), part(s, 'waiters'))
for _, n in ipairs(redis.call('HKEYS', part(s, 'queries'))) do
  local q = get_query(s, n)
  -- What its labeler was shown is kept outside the query now.
  q.score, q.rule, q.context = nil, nil, nil
  q.leased = #q.issued
  -- Whose the leases were that have ended is not known.
  local issued = {}
  for _, id in ipairs(q.issued) do
    local lease = q.leases[id]
    issued[#issued + 1] = lease and { id, lease.holder } or nil
  end
  q.issued = issued
  put_query(s, q)
end
if takes_labels(s) or s.state == 'ESTIMATING' then
  -- No job of an earlier version is done.
  redis.call('UNLINK', part(s, 'fits'))
  set(s, 'suggesting', '0', 'ranked_rev', '', 'finish_reason', '')
  if s.state ~= 'PAUSED' then
    set(s, 'state', 'PREPARING')
  end
  prepare_session(s)
end
touch(s)
