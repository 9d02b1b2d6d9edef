-- A worker has taken a job that it does not begin: any may take it. That counts nothing.
-- ARGV: prefix, stream, entry, consumer, deliveries.
-- Reply: {"returned": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
local job = job_at(stream, entry)
if job then
  put_back(stream, entry, job, 0)
else
  remove_job(stream, entry)
end
return cjson.encode({ returned = true })
