-- Gives a holder's queries back, to the front of the queue.
-- ARGV: prefix, session id, holder, lease ids as JSON (empty: all, and it waits for none any more).
-- Reply: {"applied", "lost": [...]}; lost are those named that it neither holds nor gave back before.
-- Refusals: SESSION_NOT_FOUND.
local _, sid, holder, ids = unpack(ARGV)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local changed = expire_leases(s)
local held, named, lost = held_by(s, holder), {}, {}
for _, id in ipairs(cjson.decode(ids)) do
  named[id] = true
end
local all = next(named) == nil
if all then
  stop_waiting(s, holder)
end
for i = #held, 1, -1 do
  local id = held[i]
  if all or named[id] then
    named[id] = nil
    local q = get_query(s, query_of_lease(id))
    issued_to(q, id, labeler_of(holder))[3] = 'RELEASED'
    end_lease(s, q, id, holder)
    queue_query(s, q, false)
    changed = true
  end
end
if changed then
  go_on(s)
  touch(s)
end
for id in pairs(named) do
  local q = get_query(s, query_of_lease(id) or 0)
  local issued = q and issued_to(q, id, labeler_of(holder))
  if not issued or issued[2] ~= holder or issued[3] ~= 'RELEASED' then
    lost[#lost + 1] = id
  end
end
return cjson.encode({ applied = #lost == 0, lost = lost })
