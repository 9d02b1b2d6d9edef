-- Removes the consumers of workers that were killed: silent for too long, without a sign and without a
-- job. A worker that was only stopped is made a consumer again by its next read.
-- @keys queue
-- @arg silence_ms integer: for how long a living worker may be silent
-- @reply forgotten integer?: removed workers; nothing where there are none
local JOBS = { [HI] = true, [BULK] = true }

-- Whose job `recover` has not taken back yet, or whoever still reads, stays as it is.
local stays, gone = {}, {}
for _, stream in ipairs({ HI, BULK, WAKE }) do
  -- (The group is missing until a worker makes it.)
  for _, consumer in ipairs(redis.pcall('XINFO', 'CONSUMERS', stream, GROUP)) do
    local name, pending, idle = consumer[2], consumer[4], consumer[6]
    if idle < args.silence_ms or JOBS[stream] and pending > 0 then
      stays[name] = true
    end
    gone[#gone + 1] = { name, stream }
  end
end
local forgotten, seen = 0, {}
for _, one in ipairs(gone) do
  local name, stream = unpack(one)
  if not stays[name] and redis.call('EXISTS', P .. 'worker:' .. name) == 0 then
    redis.call('XGROUP', 'DELCONSUMER', stream, GROUP, name)
    forgotten = forgotten + (seen[name] and 0 or 1)
    seen[name] = true
  end
end
if forgotten > 0 then
  return { forgotten = forgotten }
end
