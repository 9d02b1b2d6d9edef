-- Gives a holder's queries back, to the front of the queue.
-- @session
-- @keys session, dataset, queue, notices, labeling
-- @arg holder text
-- @arg lease_ids list: which queries; where it is empty all, and it waits for none any more
-- @reply lost list: those named that it neither holds nor gave back before
local holder = args.holder
local changed = expire_leases(s) > 0
local held, named, lost = held_by(s, holder), {}, {}
for _, id in ipairs(args.lease_ids) do
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
return { lost = lost }
