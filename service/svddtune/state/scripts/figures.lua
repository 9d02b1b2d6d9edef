-- What waits and who works, for the metrics and for people. It changes nothing.
-- @repeatable
-- @keys queue, labeling
-- @reply lanes map, paused integer, dead integer, workers integer, urgent_workers integer,
--   asking integer, present list, now_ms integer: lanes has for hi and bulk how many jobs are queued and
--   running, and oldest_ms, for how long the oldest of the next jobs of 1,000 owners has waited; workers
--   that are there, those of them that are kept for urgent jobs; sessions that ask; present has {name,
--   sign, kind, ttl_ms} of each worker that is there: what it said of itself, the job of this partition
--   that it works on ("" for none), and for how long its sign still lasts
local MOST_LOOKED_AT = 1000

local function group_of(stream)
  -- (The stream is missing until a worker makes it.)
  for _, group in ipairs(redis.pcall('XINFO', 'GROUPS', stream)) do
    if group[2] == GROUP then
      return { pending = group[6], last = group[8] }
    end
  end
  return { pending = 0, last = '0-0' }
end

local function lane(stream)
  local group = group_of(stream)
  local queued, oldest = redis.call('XLEN', stream) - group.pending, NOW
  local offered = redis.call('XRANGE', stream, '(' .. group.last, '+', 'COUNT', 1)[1]
  if offered then
    oldest = tonumber(string.match(offered[1], '^%d+'))
  end
  for i, owner in ipairs(redis.call('ZRANGE', turn_key(stream), 0, -1)) do
    local waiting = later_jobs(stream, owner)
    queued = queued + redis.call('LLEN', waiting)
    local first = i <= MOST_LOOKED_AT and redis.call('LINDEX', waiting, 0)
    if first then
      oldest = math.min(oldest, tonumber(cmsgpack.unpack(first).since or NOW))
    end
  end
  return { queued = queued, running = group.pending, oldest_ms = math.max(0, NOW - oldest) }
end

-- Kind of the job that each worker works on; a bulk job waits while its worker does an urgent one.
local working = {}
for _, stream in ipairs({ BULK, HI }) do
  for _, claim in ipairs(redis.pcall('XPENDING', stream, GROUP, '-', '+', MOST_LOOKED_AT)) do
    local entry = redis.call('XRANGE', stream, claim[1], claim[1])[1]
    local fields = entry and entry[2] or {}
    for i = 1, #fields, 2 do
      if fields[i] == 'kind' then
        working[claim[2]] = fields[i + 1]
      end
    end
  end
end

local workers, urgent, present = 0, 0, {}
local consumers = redis.pcall('XINFO', 'CONSUMERS', HI, GROUP)
for _, consumer in ipairs(consumers) do
  local name = consumer[2]
  local said = redis.call('GET', P .. 'worker:' .. name)
  if said then
    workers = workers + 1
    urgent = urgent + (cjson.decode(said).hi_only and 1 or 0)
    present[workers] = { name, said, working[name] or '',
      math.max(0, redis.call('PTTL', P .. 'worker:' .. name)) }
  end
end
return { lanes = { hi = lane(HI), bulk = lane(BULK) }, paused = redis.call('ZCARD', LATER),
  dead = redis.call('XLEN', DEAD), workers = workers, urgent_workers = urgent,
  asking = redis.call('HLEN', P .. 'labeling'), present = present, now_ms = NOW }
