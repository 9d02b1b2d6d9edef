-- Raises the layout in force to the newest that all processes can write, unless an operator holds it.
-- @repeatable
-- @keys layout, server, queue
-- @arg layout integer: the newest that the caller can write
-- @arg quiet_s integer: for how long no process may have been seen that cannot
-- @arg try_now flag: false to look only
-- @reply before integer, in_force integer, held flag, older list, wait_ms integer: the layout before and
--   after the call; the processes that cannot write it, each {role, name, sign}; for how long nothing may be
--   seen of such ones from now on
local before = layout_in_force()
local older, wait = {}, 0

local function look(role, name)
  local sign = redis.call('GET', P .. role .. ':' .. name)
  if sign and (cjson.decode(sign).layout or FIRST_LAYOUT) < args.layout then
    older[#older + 1] = { role, name, sign }
  end
end

if before < args.layout then
  for _, name in ipairs(redis.call('SMEMBERS', P .. 'services')) do
    look('service', name)
  end
  -- (The group is missing until a worker makes it. Each worker serves all partitions.)
  local consumers = redis.pcall('XINFO', 'CONSUMERS', HI, GROUP)
  for _, consumer in ipairs(consumers) do
    look('worker', consumer[2])
  end
  if #older > 0 and args.try_now then
    redis.call('SET', P .. 'layout:older', '1', 'EX', int(args.quiet_s))
  end
  -- Services of layout 3 leave no sign. They write this key every second.
  wait = math.max(0, redis.call('PTTL', P .. 'layout:older'), redis.call('PTTL', P .. 'probe'))
end

local held = redis.call('EXISTS', P .. 'layout:hold') == 1
local in_force = before
if args.try_now and before < args.layout and #older == 0 and wait == 0 and not held then
  in_force = args.layout
  redis.call('SET', P .. 'layout', int(in_force))
end
return { before = before, in_force = in_force, held = held, older = older, wait_ms = wait }
