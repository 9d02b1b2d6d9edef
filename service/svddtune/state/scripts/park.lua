-- A holder is away: it keeps its leases, but gets no new ones until it asks again.
-- ARGV: prefix, session id, holder.
-- Reply: {}. Refusals: SESSION_NOT_FOUND.
local s = load_session(ARGV[2])
if not s then
  return refuse('SESSION_NOT_FOUND')
end
stop_waiting(s, ARGV[3])
return '{}'
