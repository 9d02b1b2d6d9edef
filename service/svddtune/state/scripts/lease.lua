-- Hands out queries until a labeler holds as many as it wants, or there are no more.
-- ARGV: prefix, session id, who asks as JSON {holder, labeler, most, automated, notify_only}, 1 where it
--   waits for those that it does not get now.
-- Reply: {"state", "finish_reason", "withdrawn", "leases": [...], "now_ms", "next_expiry_ms",
--   "lease_ms"}; leases are all that the holder has, older ones first; next_expiry_ms is when the
--   first of others' leases may come free.
-- Refusals: SESSION_NOT_FOUND.
local _, sid, asking, waits = unpack(ARGV)
local w = cjson.decode(asking)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local changed = expire_leases(s)
local before = #held_by(s, w.holder)
local withdrawn = withdrawn_labelers(s)[w.labeler] or false
if before < w.most then
  wait_for_queries(s, w)
else
  stop_waiting(s, w.holder)
end
go_on(s, w.holder)
if waits ~= '1' then
  stop_waiting(s, w.holder)
end

local held, leases = held_by(s, w.holder), {}
-- It learns of its own leases by this reply.
s.told[w.holder] = nil
if changed or #held > before or next(s.told) or s.state ~= s.state_before then
  touch(s)
end
for i, id in ipairs(held) do
  local q = get_query(s, query_of_lease(id))
  leases[i] = { query = q.n, row = q.row, lease = id, expires = q.leases[id].expires,
    repeats = q.repeats ~= nil }
end
table.sort(leases, function(a, b) return a.query < b.query end)
local next_expiry = 0
for _, id in ipairs(redis.call('ZRANGE', part(s, 'leases'), 0, #held)) do
  local lease = get_query(s, query_of_lease(id)).leases[id]
  if lease.holder ~= w.holder then
    next_expiry = lease.expires
    break
  end
end
return cjson.encode({ state = s.state, finish_reason = s.finish_reason, withdrawn = withdrawn,
  leases = leases, now_ms = NOW, next_expiry_ms = next_expiry, lease_ms = tonumber(s.lease_ms) })
