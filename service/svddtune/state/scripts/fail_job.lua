-- A job could not be done. It is tried again after a pause, until it raised too many errors (or where
-- it can never succeed); then it becomes a dead letter and its session, or all that wait for it, say so.
-- ARGV: prefix, stream, entry, consumer, deliveries, most errors (1: do not try again), reason,
--   message.
-- Reply: {"dead"}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, most, reason, message = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
local job = job_at(stream, entry)
if not job then
  remove_job(stream, entry)
  return cjson.encode({ dead = false })
end
return cjson.encode({ dead = count_error(stream, entry, job, most, reason, message) })
