-- Ends the leases that have run out.
-- @session
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @reply expires_in_ms integer?: until the next one runs out; absent where there is none
if expire_leases(s) then
  go_on(s)
  touch(s)
end
local first = redis.call('ZRANGE', part(s, 'leases'), 0, 0, 'WITHSCORES')
return { expires_in_ms = first[2] and math.max(0, tonumber(first[2]) - NOW) }
