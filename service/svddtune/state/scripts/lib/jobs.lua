-- The jobs: urgent ones, which a labeler waits for (HI), and all others (BULK). A stream has those that
-- are running. A worker's claim is its entry in the group's pending list. A job that goes back becomes
-- a new entry: whoever had the old one is fenced off, and how often the job failed goes with it.
--
-- Jobs wait in lists of their owners: the session that a job names, else its dataset. The next one is
-- of the owner with the least time served, divided by its weight (fair queueing by virtual time): an
-- owner that comes starts level with the least served one, so it waits for at most the job that each
-- worker is at and one of each other owner, and its many short jobs do not wait for as many long ones.
--
-- Urgent jobs go to their stream by the same rule, as many as there are workers: one that is idle gets
-- its job with the read that it waits in.

local WAKE, LATER = P .. 'q:wake', P .. 'q:later'
-- Charged in ms when a job begins, until it ends and its time is known.
local CHARGED = { [HI] = 10, [BULK] = 1000 }
-- The weight doubles with every so many steps of priority: it lies between 1/16 and 16.
local DOUBLES_EACH = 25

-- Owners with waiting jobs by their time; times also of others that may come again; the time that
-- service has reached.
local function turn_key(stream) return stream .. ':turn' end
local function service_key(stream) return stream .. ':service' end
local function clock_key(stream) return stream .. ':clock' end

local function later_jobs(stream, owner)
  return stream .. ':todo:' .. owner
end

local function owner_of(job)
  return job.session ~= '' and job.session or job.dataset
end

-- What a job's share of the workers is weighed by: the priority of its session, or the highest of
-- those that need it.
local function weight_of(job)
  local sessions = { job.session }
  if job.session == '' then
    local range = job.kind == 'ATLAS' and string.match(job.about, '^(%w+):')
    sessions = redis.call('SMEMBERS', P .. 'd:' .. job.dataset
      .. (range and ':atlas:' .. range .. ':users' or ':waiting:' .. job.about))
  end
  local highest
  for _, sid in ipairs(sessions) do
    local priority = tonumber(redis.call('HGET', P .. 's:' .. sid, 'priority') or 0)
    highest = math.max(highest or priority, priority)
  end
  return 2 ^ ((highest or 0) / DOUBLES_EACH)
end

-- Times are parts of a ms where the weight is large.
local function virtual(ms)
  return string.format('%.6f', ms)
end

local function append(stream, job)
  return redis.call('XADD', stream, '*', 'kind', job.kind, 'session', job.session,
    'dataset', job.dataset, 'payload', job.payload, 'about', job.about or '',
    'errors', int(job.errors or 0), 'lost', int(job.lost or 0), 'weight', virtual(job.weight),
    'since', int(job.since or NOW), 'trace', job.trace or '')
end

-- Takes the job whose turn it is out of its owner's list, for its stream; nil where none waits.
local function next_job(stream)
  local turn, service, clock = turn_key(stream), service_key(stream), clock_key(stream)
  while true do
    local owner, time = unpack(redis.call('ZRANGE', turn, 0, 0, 'WITHSCORES'))
    if not owner then
      if redis.call('XLEN', stream) == 0 then
        redis.call('DEL', service, clock)
      end
      return nil
    end
    local packed = redis.call('LPOP', later_jobs(stream, owner))
    if packed then
      local job = cmsgpack.unpack(packed)
      job.weight = weight_of(job)
      redis.call('SET', clock, virtual(time))
      redis.call('ZREMRANGEBYSCORE', service, '-inf', '(' .. virtual(time))
      local charged = virtual(time + CHARGED[stream] / job.weight)
      redis.call('ZADD', service, charged, owner)
      if redis.call('EXISTS', later_jobs(stream, owner)) == 1 then
        redis.call('ZADD', turn, charged, owner)
      else
        redis.call('ZREM', turn, owner)
      end
      return job
    end
    redis.call('ZREM', turn, owner)
  end
end

-- Reads the next entry of a stream that no consumer has had. Where the server lost its data, the group
-- is made anew: an error after the job left its list would leave it in a stream that nobody reads.
local function read_next(stream, consumer, ...)
  local command = { 'XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', 1, ... }
  for _, word in ipairs({ 'STREAMS', stream, '>' }) do
    command[#command + 1] = word
  end
  local read = redis.pcall(unpack(command))
  if read and read.err then
    redis.call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM')
    read = redis.call(unpack(command))
  end
  return read
end

-- Begins the bulk job whose turn it is, for a consumer: its entry, or nil where none waits.
local function begin_bulk_job(consumer)
  local job = next_job(BULK)
  if not job then
    return nil
  end
  append(BULK, job)
  -- Whoever takes a job needs not be woken for it.
  read_next(WAKE, consumer, 'NOACK')
  -- All entries of BULK are read as they are added: this is the one.
  return read_next(BULK, consumer)[1][2][1][1]
end

-- Offers the urgent jobs whose turn it is: workers find as many as there are workers.
local function offer_urgent_jobs()
  local workers, begun = 1, 0
  -- (The group is missing until a worker makes it.)
  for _, group in ipairs(redis.pcall('XINFO', 'GROUPS', HI)) do
    if group[2] == GROUP then
      workers, begun = math.max(1, group[4]), group[6]
    end
  end
  local offered = redis.call('XLEN', HI) - begun
  while offered < workers do
    local job = next_job(HI)
    if not job then
      return
    end
    append(HI, job)
    offered = offered + 1
  end
end

-- Adds a job: kind, session ("" for a job of the dataset), dataset, payload, about (what it is part
-- of: see `enqueue` and `enqueue_for_dataset`), errors and lost (how often it failed before), trace (the
-- traceparent of the span that it follows from, if any). One that was begun before is the `first` of
-- its owner's.
local function add_job(stream, job, first)
  local owner = owner_of(job)
  -- Since when it waits.
  job.since = int(NOW)
  redis.call(first and 'LPUSH' or 'RPUSH', later_jobs(stream, owner), cmsgpack.pack(job))
  if not redis.call('ZSCORE', turn_key(stream), owner) then
    local before = tonumber(redis.call('ZSCORE', service_key(stream), owner) or 0)
    local clock = tonumber(redis.call('GET', clock_key(stream)) or 0)
    redis.call('ZADD', turn_key(stream), virtual(math.max(before, clock)), owner)
  end
  if stream == HI then
    offer_urgent_jobs()
  else
    redis.call('XADD', WAKE, 'MAXLEN', '64', '*', 'bulk', '1')
  end
end

-- The owner of a job is charged what it took since its worker's last sign. At the end of the job
-- that replaces what was charged at first.
local function charge(job, ended)
  local claim = redis.pcall('XPENDING', job.stream, GROUP, job.entry, job.entry, 1)[1]
  local ms = (claim and claim[3] or 0) - (ended and CHARGED[job.stream] or 0)
  for _, key in ipairs({ turn_key(job.stream), service_key(job.stream) }) do
    if redis.call('ZSCORE', key, owner_of(job)) then
      redis.call('ZINCRBY', key, virtual(ms / (job.weight or 1)), owner_of(job))
    end
  end
end

-- Adds a job of a session; `about` is the attempt at a result that it belongs to.
local function enqueue(stream, kind, s, payload)
  add_job(stream, { kind = kind, session = s.id, dataset = s.dataset, payload = payload,
    about = s.attempt, trace = s.trace })
end

-- Adds a job that many sessions may wait for; `about` says which part of the dataset it makes.
local function enqueue_for_dataset(kind, dataset, about, payload, first)
  add_job(BULK, { kind = kind, session = '', dataset = dataset, payload = payload, about = about },
    first)
end

-- Takes out the bulk jobs of an owner that nobody has begun and for which `unwanted(job)` holds; them.
local function take_back(owner, unwanted)
  local taken, key = {}, later_jobs(BULK, owner)
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
  if job then
    charge(job, true)
  end
  redis.call('XACK', stream, GROUP, entry)
  redis.call('XDEL', stream, entry)
  if stream == HI then
    offer_urgent_jobs()
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
