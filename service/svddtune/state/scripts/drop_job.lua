-- A job is not needed any more. (A session that asks again by now gets another ranking.)
-- ARGV: prefix, stream, entry, consumer, deliveries, then for ATLAS: dataset id, index of the part.
-- Reply: {"dropped": true}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, dataset, index = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
local job = redis.call('XRANGE', stream, entry, entry)[1]
finish_job(stream, entry)
if dataset then
  redis.call('SREM', dataset_key(dataset) .. ':atlasflying', index)
end
local fields = {}
for i = 1, job and #job[2] or 0, 2 do
  fields[job[2][i]] = job[2][i + 1]
end
local s = fields.kind == 'SUGGEST' and load_session(fields.session)
if s then
  set(s, 'suggesting', '0')
  go_on(s)
  touch(s)
end
return cjson.encode({ dropped = true })
