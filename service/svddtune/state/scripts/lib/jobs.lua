-- The jobs. In HI are those that a labeler waits for, in BULK the others that are running. A worker's
-- claim is its entry in the group's pending list. A job that goes back becomes a new entry: whoever
-- had the old one is fenced off, and how often the job failed goes with it.
--
-- Bulk jobs wait in lists of their owners: the session that a job names, else its dataset. The next
-- one is of the owner that workers have spent the least time on (fair queueing by virtual time): an
-- owner that comes starts level with the least served one, so it waits for at most the job that each
-- worker is at and one of each other owner, and its many short jobs do not wait for as many long ones.

-- Owners with waiting jobs by their time; times also of others that may come again; the time that
-- service has reached; a stream that only wakes workers.
local TURN, SERVICE, CLOCK, WAKE = P .. 'q:turn', P .. 'q:service', P .. 'q:clock', P .. 'q:wake'
local LATER = P .. 'q:later'
-- Charged in ms when a job begins, until it ends and its time is known.
local CHARGED = 1000

local function later_jobs(owner)
  return P .. 'q:todo:' .. owner
end

local function owner_of(job)
  return job.session ~= '' and job.session or job.dataset
end

local function append(stream, job)
  return redis.call('XADD', stream, '*', 'kind', job.kind, 'session', job.session,
    'dataset', job.dataset, 'payload', job.payload, 'about', job.about or '',
    'errors', int(job.errors or 0), 'lost', int(job.lost or 0))
end

-- Adds a job: kind, session ("" for a job of the dataset), dataset, payload, about (what it is part
-- of: see `enqueue` and `enqueue_for_dataset`), errors and lost (how often it failed before). One
-- that was begun before is the `first` of its owner's.
local function add_job(stream, job, first)
  if stream ~= BULK then
    append(stream, job)
    return
  end
  local owner = owner_of(job)
  redis.call(first and 'LPUSH' or 'RPUSH', later_jobs(owner), cmsgpack.pack(job))
  if not redis.call('ZSCORE', TURN, owner) then
    local before = tonumber(redis.call('ZSCORE', SERVICE, owner) or 0)
    local clock = tonumber(redis.call('GET', CLOCK) or 0)
    redis.call('ZADD', TURN, int(math.max(before, clock)), owner)
  end
  redis.call('XADD', WAKE, 'MAXLEN', '64', '*', 'bulk', '1')
end

-- Begins the bulk job whose turn it is, for a consumer: its entry, or nil where none waits.
local function begin_bulk_job(consumer)
  while true do
    local owner, time = unpack(redis.call('ZRANGE', TURN, 0, 0, 'WITHSCORES'))
    if not owner then
      if redis.call('XLEN', BULK) == 0 then
        redis.call('DEL', SERVICE, CLOCK)
      end
      return nil
    end
    local packed = redis.call('LPOP', later_jobs(owner))
    if packed then
      redis.call('SET', CLOCK, int(time))
      redis.call('ZREMRANGEBYSCORE', SERVICE, '-inf', '(' .. int(time))
      redis.call('ZADD', SERVICE, int(time + CHARGED), owner)
      if redis.call('EXISTS', later_jobs(owner)) == 1 then
        redis.call('ZADD', TURN, int(time + CHARGED), owner)
      else
        redis.call('ZREM', TURN, owner)
      end
      append(BULK, cmsgpack.unpack(packed))
      -- Whoever takes a job needs not be woken for it.
      redis.call('XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', 1, 'NOACK', 'STREAMS', WAKE, '>')
      -- All entries of BULK are read as they are added: this is the one.
      local read = redis.call('XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', 1,
        'STREAMS', BULK, '>')
      return read[1][2][1][1]
    end
    redis.call('ZREM', TURN, owner)
  end
end

-- The owner is charged the time its job took, instead of what was charged at first.
local function settle_time(owner, entry)
  local change = int(NOW - tonumber(string.match(entry, '^%d+')) - CHARGED)
  for _, key in ipairs({ TURN, SERVICE }) do
    if redis.call('ZSCORE', key, owner) then
      redis.call('ZINCRBY', key, change, owner)
    end
  end
end

-- Adds a job of a session; `about` is the attempt at a result that it belongs to.
local function enqueue(stream, kind, s, payload)
  add_job(stream, { kind = kind, session = s.id, dataset = s.dataset, payload = payload,
    about = s.attempt })
end

-- Adds a job that many sessions may wait for; `about` says which part of the dataset it makes.
local function enqueue_for_dataset(kind, dataset, about, payload, first)
  add_job(BULK, { kind = kind, session = '', dataset = dataset, payload = payload, about = about },
    first)
end

-- Takes out the jobs of an owner that nobody has begun and for which `unwanted(job)` holds; them.
local function take_back(owner, unwanted)
  local taken, key = {}, later_jobs(owner)
  for _, packed in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local job = cmsgpack.unpack(packed)
    if unwanted(job) then
      redis.call('LREM', key, 1, packed)
      taken[#taken + 1] = job
    end
  end
  return taken
end

-- The entry is not this consumer's delivery any more: another worker has it, or it is done. (The group
-- is missing where the server lost its data.)
local function claim_is_lost(claim)
  local pending = redis.pcall('XPENDING', claim.stream, GROUP, claim.entry, claim.entry, 1)
  return #pending == 0 or pending[1][2] ~= claim.consumer or pending[1][4] ~= claim.deliveries
end

-- The job of an entry, with its stream and entry, or nil.
local function job_at(stream, entry)
  local found = redis.call('XRANGE', stream, entry, entry)[1]
  if not found then
    return nil
  end
  local job = { stream = stream, entry = entry }
  for i = 1, #found[2], 2 do
    job[found[2][i]] = found[2][i + 1]
  end
  job.errors, job.lost = tonumber(job.errors or 0), tonumber(job.lost or 0)
  return job
end

-- Takes an entry out of its stream, which ends the claim on it; its job, or nil where there was none.
local function take_out(stream, entry)
  local job = job_at(stream, entry)
  redis.call('XACK', stream, GROUP, entry)
  redis.call('XDEL', stream, entry)
  if job and stream == BULK then
    settle_time(owner_of(job), entry)
  end
  return job
end

-- Puts a job that was taken out back, for any worker to take, after a pause.
local function put_back(job, pause_ms)
  if pause_ms > 0 then
    -- (Its entry makes it unique: equal members of a sorted set would be one.)
    redis.call('ZADD', LATER, int(NOW + pause_ms), cmsgpack.pack(job))
  else
    add_job(job.stream, job, true)
  end
end
