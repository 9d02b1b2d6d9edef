-- A result is planned: its FIT jobs are added or, where it needs none, its ESTIMATE job.
-- @claim ends
-- @keys session, queue, notices
-- @arg attempt integer: the attempt at a result that it belongs to
-- @arg plan bytes: a GridPlan message
-- @arg fits list: payloads of the FIT jobs
-- @reply committed flag: the session still wanted it
local s = load_session(job.session)
if not awaits_result(s, args.attempt) then
  return { committed = false }
end
redis.call('DEL', part(s, 'fits'))
redis.call('HSET', part(s, 'fits'), 'plan', args.plan, 'total', int(#args.fits))
for _, payload in ipairs(args.fits) do
  enqueue(BULK, 'FIT', s, payload)
end
if #args.fits == 0 then
  enqueue(BULK, 'ESTIMATE', s, s.job_estimate)
end
touch(s)
return { committed = true }
