-- Extends a holder's leases, each by its labeler's lease length from now.
-- @session
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @arg holder text
-- @arg labeler text
-- @arg lease_ids list: which leases; all where it is empty
-- @reply extended list, lost list: pairs of a lease and its new end in ms, and those named that it does
--   not hold
local changed = expire_leases(s) > 0
local all, held, seen = held_by(s, args.holder), {}, {}
for _, id in ipairs(all) do
  held[id] = true
end
local expires, extended, lost = NOW + lease_length(s, labeler_info(s, args.labeler)), {}, {}
for _, id in ipairs(#args.lease_ids > 0 and args.lease_ids or all) do
  if held[id] and not seen[id] then
    local q = get_query(s, query_of_lease(id))
    -- A heartbeat never shortens a lease.
    q.leases[id].expires = math.max(q.leases[id].expires, expires)
    extended[#extended + 1] = { id, q.leases[id].expires }
    redis.call('ZADD', part(s, 'leases'), int(q.leases[id].expires), id)
    put_query(s, q)
  elseif not seen[id] then
    lost[#lost + 1] = id
  end
  seen[id] = true
end
if changed then
  go_on(s)
  touch(s)
end
return { extended = extended, lost = lost }
