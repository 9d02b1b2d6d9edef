-- Ends the leases that have run out.
-- ARGV: prefix, session id.
-- Reply: {"expires_in_ms"} until the next one, -1 where there is none. Refusals: SESSION_NOT_FOUND.
local s = load_session(ARGV[2])
if not s then
  return refuse('SESSION_NOT_FOUND')
end
if expire_leases(s) then
  go_on(s)
  touch(s)
end
local first = redis.call('ZRANGE', part(s, 'leases'), 0, 0, 'WITHSCORES')
return cjson.encode({ expires_in_ms = first[2] and math.max(0, tonumber(first[2]) - NOW) or -1 })
