-- Puts back what nobody works on: jobs whose worker has been silent too long, and failed ones whose
-- pause is over. Whoever is free takes them.
-- ARGV: prefix, longest silence in ms for hi and for bulk jobs, most workers that a job may lose.
-- Reply: {"lost": jobs whose worker vanished, "dead": those of them given up, "due": pauses over}, or
--   {} where there is nothing to put back.
local _, hi_silence, bulk_silence, most_lost = unpack(ARGV)
local AT_ONCE = 100

local lost, dead, due = 0, 0, 0
for stream, silence in pairs({ [HI] = hi_silence, [BULK] = bulk_silence }) do
  -- (The group is missing where the server lost its data, until a worker makes it anew.)
  local idle = redis.pcall('XPENDING', stream, GROUP, 'IDLE', silence, '-', '+', AT_ONCE)
  for _, claim in ipairs(idle) do
    local entry = claim[1]
    local job = job_at(stream, entry)
    if not job then
      remove_job(stream, entry)
    else
      lost = lost + 1
      if count_loss(stream, entry, job, most_lost, 'it fell silent') then
        dead = dead + 1
      end
    end
  end
end
for _, packed in ipairs(redis.call('ZRANGEBYSCORE', LATER, '-inf', int(NOW), 'LIMIT', 0, AT_ONCE)) do
  redis.call('ZREM', LATER, packed)
  local stream, job = unpack(cmsgpack.unpack(packed))
  add_job(stream, job, true)
  due = due + 1
end
if lost + due == 0 then
  return '{}'
end
return cjson.encode({ lost = lost, dead = dead, due = due })
