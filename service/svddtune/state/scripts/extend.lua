-- Extends a holder's leases, each by its labeler's lease length from now.
-- @session
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @arg holder text
-- @arg labeler text
-- @arg lease_ids list: which leases; all where it is empty
-- @reply applied flag, expires_ms integer, lost list: when the first of them runs out, and those named
--   that it does not hold
local changed = expire_leases(s)
local held, wanted, lost = {}, args.lease_ids, {}
for _, id in ipairs(held_by(s, args.holder)) do
  held[id] = true
end
for _, id in ipairs(wanted) do
  if not held[id] then
    lost[#lost + 1] = id
  end
end
if #wanted == 0 then
  wanted = held_by(s, args.holder)
end
local extended = NOW + lease_length(s, labeler_info(s, args.labeler))
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
return { applied = #lost == 0, expires_ms = expires or extended, lost = lost }
