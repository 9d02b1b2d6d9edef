-- A preview is computed: it is kept for whoever asked for it.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, preview id, preview.
-- Reply: {"committed"}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, id, preview = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local s = load_session(sid)
if not s then
  return cjson.encode({ committed = false, gone = true })
end
redis.call('SET', part(s, 'preview:' .. id), preview, 'EX', '60')
-- Whoever waits for it looks; the session itself is as it was.
announce(s)
return cjson.encode({ committed = true })
