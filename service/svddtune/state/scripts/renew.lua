-- The worker is alive: its claim starts anew.
-- @claim stays
-- @repeatable
-- @keys session, dataset, queue
-- @reply wanted flag: somebody still needs what the job makes
redis.call('XCLAIM', claim.stream, GROUP, claim.consumer, '0', claim.entry, 'JUSTID')
local job = job_at(claim.stream, claim.entry)
return { wanted = job ~= nil and is_wanted(job) }
