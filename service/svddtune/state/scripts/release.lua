-- Gives a holder's queries back, to the front of the queue.
-- ARGV: prefix, session id, holder, lease ids as JSON (empty: all).
-- Reply: {"applied", "lost": [...]}; lost are those named that it does not hold.
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
local leased = redis.call('ZRANGE', part(s, 'leases'), 0, -1)
for i = #leased, 1, -1 do
  local q = get_query(s, leased[i])
  if q.holder == holder and (all or wanted[q.lease]) then
    wanted[q.lease] = nil
    reopen_query(s, q, false)
    changed = true
  end
end
for _, item in ipairs(redis.call('LRANGE', part(s, 'waiting'), 0, -1)) do
  if all and cjson.decode(item).holder == holder then
    redis.call('LREM', part(s, 'waiting'), 0, item)
  end
end
if changed then
  touch(s)
end
local lost = {}
for id in pairs(wanted) do
  lost[#lost + 1] = id
end
return cjson.encode({ applied = #lost == 0, lost = lost })
