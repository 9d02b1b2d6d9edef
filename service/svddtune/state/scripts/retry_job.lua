-- Tries the job of a dead letter again: the sessions that failed with it go on where they were.
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg entry text: the dead letter's entry; it goes
-- @reply sessions list?: ids of the sessions that go on; absent where there is no such dead letter
local job = job_at(DEAD, args.entry)
if not job then
  return
end
redis.call('XDEL', DEAD, args.entry)

local OF_RESULT = { PLAN = true, FIT = true, ESTIMATE = true }

local function go_on_from(s)
  set(s, 'finish_reason', '', 'failure_reason', '', 'failure_message', '', 'exhausted_rev', '',
    'ranked_rev', '')
  revive_session(s)
  local a = s.needs_atlas == '1' and atlas_key(s.dataset, s.range)
  if OF_RESULT[job.kind] and (not a or redis.call('HGET', a, 'state') == 'ready') then
    if a then
      redis.call('SADD', a .. ':users', s.id)
    end
    begin_estimating(s, total(s) >= tonumber(s.budget) and 'BUDGET_SPENT' or 'FINISHED')
  else
    set(s, 'state', 'PREPARING')
    prepare_session(s)
    go_on(s)
  end
  touch(s)
end

local sids, gone_on = { job.session }, {}
if job.session == '' then
  sids = redis.call('SMEMBERS', dataset_key(job.dataset) .. ':sessions')
end
for _, sid in ipairs(sids) do
  local s = load_session(sid)
  if s and s.state == 'FAILED' and s.failure_reason == job.reason
    and s.failure_message == job.message then
    go_on_from(s)
    gone_on[#gone_on + 1] = sid
  elseif s and job.kind == 'REFINE' then
    -- The session went on without the comparison.
    set(s, 'detectors_total', int(-COMPARE_EVERY))
    compare_detectors(s)
  end
end
return { sessions = gone_on }
