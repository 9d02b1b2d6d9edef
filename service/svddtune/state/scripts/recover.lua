-- Puts back what nobody works on: jobs whose worker has been silent too long, and failed ones whose
-- pause is over. Whoever is free takes them.
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg hi_silence_ms integer: how long the worker of an urgent job may be silent
-- @arg bulk_silence_ms integer: how long that of another job may be
-- @arg sign_ms integer: how long the sign of a worker lasts
-- @arg most_lost integer: give a job up at so many workers that it lost
-- @reply lost integer?, dead integer?, due integer?: jobs whose worker vanished, those of them given up,
--   and jobs whose pause is over; nothing where there is nothing to put back
local AT_ONCE = 100

-- A sign that lasts longer than it can tells that the clock went back since.
local attended = P .. 'q:attended'
if redis.call('PTTL', attended) > args.sign_ms then
  redis.call('PEXPIRE', attended, args.sign_ms)
  begin_waits_anew()
end

local lost, dead, due = 0, 0, 0
for stream, silence in pairs({ [HI] = args.hi_silence_ms, [BULK] = args.bulk_silence_ms }) do
  -- (The group is missing where the server lost its data, until a worker makes it anew.)
  local idle = redis.pcall('XPENDING', stream, GROUP, 'IDLE', silence, '-', '+', AT_ONCE)
  for _, claim in ipairs(idle) do
    local job = take_out(stream, claim[1])
    if job then
      lost = lost + 1
      if count_loss(job, args.most_lost, 'it fell silent') then
        dead = dead + 1
      end
    end
  end
end
for _, packed in ipairs(redis.call('ZRANGEBYSCORE', LATER, '-inf', int(NOW), 'LIMIT', 0, AT_ONCE)) do
  redis.call('ZREM', LATER, packed)
  local job = cmsgpack.unpack(packed)
  add_job(job.stream, job, true)
  due = due + 1
end
if lost + due > 0 then
  return { lost = lost, dead = dead, due = due }
end
