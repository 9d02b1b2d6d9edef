-- Extends a holder's leases by the session's lease length from now.
-- ARGV: prefix, session id, holder, lease ids as JSON (empty: all).
-- Reply: {"applied", "expires", "lost": [...]}; lost are those named that it does not hold.
-- Refusals: SESSION_NOT_FOUND.
local _, sid, holder, ids = unpack(ARGV)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local changed = expire_leases(s)
local wanted, all = {}, true
for _, id in ipairs(cjson.decode(ids)) do
  wanted[id], all = true, false
end
local expires = NOW + tonumber(s.lease_ms)
for _, n in ipairs(redis.call('ZRANGE', part(s, 'leases'), 0, -1)) do
  local q = get_query(s, n)
  if q.holder == holder and (all or wanted[q.lease]) then
    wanted[q.lease] = nil
    q.expires = expires
    redis.call('ZADD', part(s, 'leases'), int(expires), int(q.n))
    put_query(s, q)
  end
end
if changed then
  touch(s)
end
local lost = {}
for id in pairs(wanted) do
  lost[#lost + 1] = id
end
return cjson.encode({ applied = #lost == 0, expires = expires,
  lost = lost })
