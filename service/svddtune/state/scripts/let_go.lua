-- A worker works on nothing more: what it holds goes back for others to take.
-- ARGV: prefix, consumer, how it came: "left" (counts nothing), "killed" (it vanished), "crashed" (the
--   job made it end), most errors, most workers that a job may lose, what is known of its end,
--   1 where the consumer goes too.
-- Reply: {"released": jobs put back, "dead": jobs given up}.
local _, consumer, how, most_errors, most_lost, words, for_good = unpack(ARGV)
local AT_ONCE = 100

local released, dead = 0, 0
for _, stream in ipairs({ HI, BULK }) do
  local held = redis.pcall('XPENDING', stream, GROUP, '-', '+', AT_ONCE, consumer)
  for _, claim in ipairs(held) do
    local entry = claim[1]
    local job = job_at(stream, entry)
    local given_up = false
    if not job then
      remove_job(stream, entry)
    elseif how == 'crashed' then
      given_up = count_error(stream, entry, job, most_errors, 'WORKER_CRASHED',
        job.kind .. ' made its worker crash ' .. int(job.errors + 1) .. ' times (last: ' .. words .. ').')
    elseif how == 'killed' then
      given_up = count_loss(stream, entry, job, most_lost, words)
    else
      put_back(stream, entry, job, 0)
    end
    released = released + (given_up and 0 or 1)
    dead = dead + (given_up and 1 or 0)
  end
  if for_good == '1' and not held.err and #held < AT_ONCE then
    redis.pcall('XGROUP', 'DELCONSUMER', stream, GROUP, consumer)
  end
end
if for_good == '1' then
  redis.pcall('XGROUP', 'DELCONSUMER', WAKE, GROUP, consumer)
  redis.call('DEL', P .. 'worker:' .. consumer)
end
return cjson.encode({ released = released, dead = dead })
