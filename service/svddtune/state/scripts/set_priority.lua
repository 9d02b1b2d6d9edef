-- Changes when the session is served among those of one labeler.
-- @session
-- @keys session, notices, labeling
-- @arg priority integer: higher is earlier
-- @reply state text
set(s, 'priority', int(args.priority))
if s.state == 'LABELING' then
  redis.call('HSET', P .. 'labeling', s.id, s.priority .. ' ' .. s.created_ms)
end
touch(s)
return { state = s.state }
