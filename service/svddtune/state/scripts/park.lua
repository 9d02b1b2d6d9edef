-- A holder is away: it keeps its leases, but gets no new ones until it asks again.
-- ARGV: prefix, session id, holder.
-- Reply: {}. Refusals: SESSION_NOT_FOUND.
local s = load_session(ARGV[2])
if not s then
  return refuse('SESSION_NOT_FOUND')
end
if redis.call('ZSCORE', part(s, 'waiting'), ARGV[3]) then
  stop_waiting(s, ARGV[3])
  -- Its next stream may be there before the end of this one was seen: that one asks again.
  tell(s, ARGV[3])
  announce(s)
end
return '{}'
