-- The worker is alive: its claim starts anew.
-- @claim stays
-- @repeatable
-- @keys session, dataset, queue
-- @reply wanted flag: somebody still needs what the job makes
local job = job_at(claim.stream, claim.entry)
if job then
  charge(job, false)
end
redis.call('XCLAIM', claim.stream, GROUP, claim.consumer, '0', claim.entry, 'JUSTID')
return { wanted = job ~= nil and is_wanted(job) }
