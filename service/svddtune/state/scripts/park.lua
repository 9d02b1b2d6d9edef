-- A holder is away: it keeps its leases, but gets no new ones until it asks again.
-- @session
-- @repeatable
-- @keys session, notices
-- @arg holder text
if redis.call('ZSCORE', part(s, 'waiting'), args.holder) then
  stop_waiting(s, args.holder)
  -- Its next stream may be there before the end of this one was seen: that one asks again.
  tell(s, args.holder)
  announce(s)
end
