-- Some cells are fitted; the last ones of a grid add the ESTIMATE job.
-- @claim ends
-- @keys session, dataset, queue, notices
-- @arg attempt integer: the attempt at a result that they belong to
-- @arg index integer: which of the plan's fits it is
-- @arg output bytes: a FitOutput message
-- @arg rule text: name of the label-free rule, whose output is kept for other sessions, or ""
-- @reply committed flag: the session still wanted it
local s = load_session(job.session)
if s and args.rule ~= '' then
  redis.call('HSET', dataset_key(s.dataset) .. ':rules', args.rule, args.output)
end
if not awaits_result(s, args.attempt) then
  return { committed = false }
end
local fits = part(s, 'fits')
if redis.call('HSETNX', fits, int(args.index), args.output) == 1 then
  local done = redis.call('HLEN', fits) - 2
  if done == tonumber(redis.call('HGET', fits, 'total')) then
    enqueue(BULK, 'ESTIMATE', s, s.job_estimate)
  end
  touch(s)
end
return { committed = true }
