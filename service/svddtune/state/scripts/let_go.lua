-- A worker works on nothing more: what it holds goes back for others to take.
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg consumer text
-- @arg ending text: "left" (counts nothing), "killed" (it vanished), "crashed" (the job made it end)
-- @arg most_errors integer: give a job up at so many
-- @arg most_lost integer: give a job up at so many workers that it lost
-- @arg words text: what is known of the worker's end
-- @arg for_good flag: the consumer goes too
-- @reply released integer, dead integer: jobs put back, and jobs given up
local AT_ONCE = 100

local released, dead = 0, 0
for _, stream in ipairs({ HI, BULK }) do
  local held = redis.pcall('XPENDING', stream, GROUP, '-', '+', AT_ONCE, args.consumer)
  for _, claim in ipairs(held) do
    local job = take_out(stream, claim[1])
    local given_up = false
    if job and args.ending == 'crashed' then
      given_up = count_error(job, args.most_errors, 'WORKER_CRASHED',
        job.kind .. ' made its worker crash ' .. int(job.errors + 1) .. ' times (last: ' .. args.words
          .. ').')
    elseif job and args.ending == 'killed' then
      given_up = count_loss(job, args.most_lost, args.words)
    elseif job then
      put_back(job, 0)
    end
    released = released + (given_up and 0 or 1)
    dead = dead + (given_up and 1 or 0)
  end
  if args.for_good and not held.err and #held < AT_ONCE then
    redis.pcall('XGROUP', 'DELCONSUMER', stream, GROUP, args.consumer)
  end
end
if args.for_good then
  redis.pcall('XGROUP', 'DELCONSUMER', WAKE, GROUP, args.consumer)
  redis.call('DEL', P .. 'worker:' .. args.consumer)
end
return { released = released, dead = dead }
