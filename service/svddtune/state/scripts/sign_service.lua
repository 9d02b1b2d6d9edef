-- A service says that it is there, and forgets those that have said nothing for long.
-- @repeatable
-- @keys server
-- @arg name text
-- @arg sign text: what it says of itself, as JSON; its layout is the newest that it can write
-- @arg ttl_s integer: how long the sign lasts
local KNOWN_S = '60'
local names = P .. 'services'
redis.call('SET', P .. 'service:' .. args.name, args.sign, 'EX', int(args.ttl_s))
redis.call('SADD', names, args.name)
for _, name in ipairs(redis.call('SMEMBERS', names)) do
  if redis.call('EXISTS', P .. 'service:' .. name) == 0 then
    redis.call('SREM', names, name)
  end
end
redis.call('EXPIRE', names, KNOWN_S)
