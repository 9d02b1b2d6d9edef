-- Extends a holder's leases, each by its labeler's lease length from now.
-- ARGV: prefix, session id, holder, labeler, lease ids as JSON (empty: all).
-- Reply: {"applied", "expires", "lost": [...]}: when the first of them runs out, and those named that
-- it does not hold.
-- Refusals: SESSION_NOT_FOUND.
local _, sid, holder, labeler, ids = unpack(ARGV)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local changed = expire_leases(s)
local held, wanted, lost = {}, cjson.decode(ids), {}
for _, id in ipairs(held_by(s, holder)) do
  held[id] = true
end
for _, id in ipairs(wanted) do
  if not held[id] then
    lost[#lost + 1] = id
  end
end
if #wanted == 0 then
  wanted = held_by(s, holder)
end
local extended = NOW + lease_length(s, labeler_info(s, labeler))
local expires
for _, id in ipairs(wanted) do
  if held[id] then
    local q = get_query(s, query_of_lease(id))
    -- A heartbeat never shortens a lease.
    q.leases[id].expires = math.max(q.leases[id].expires, extended)
    expires = math.min(expires or q.leases[id].expires, q.leases[id].expires)
    redis.call('ZADD', part(s, 'leases'), int(q.leases[id].expires), id)
    put_query(s, q)
  end
end
if changed then
  go_on(s)
  touch(s)
end
return cjson.encode({ applied = #lost == 0, expires = expires or extended, lost = lost })
