-- Ends the leases that have run out, and the wait of rankings for the rest of a batch of answers.
-- @session
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @reply expires_in_ms integer?: until this is to be called again; absent for never
-- @reply expired integer: leases that have run out
begin_late_leases_anew(s)
local expired, released = expire_leases(s), s.held_until and s.held_until ~= '0' and not is_held(s)
if released then
  set(s, 'held_until', '0')
end
if expired > 0 or released then
  go_on(s)
  touch(s)
end
local due = due_in_ms(s)
return { expires_in_ms = due and tonumber(due), expired = expired }
