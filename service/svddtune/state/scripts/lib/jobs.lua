-- The job streams. In HI are jobs that a labeler waits for, in BULK all others. A worker's claim is
-- its entry in the group's pending list. A job that goes back becomes a new entry: whoever had the
-- old one is fenced off, and how often the job failed goes with it.
--
-- BULK is fair between owners: the session that a job names, else its dataset. Of each owner at most
-- one job waits in the stream, the others behind it in a list of the owner's own. So no job waits
-- for more than one job of each other owner.

local TURN, LATER = P .. 'q:turn', P .. 'q:later'

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
  local waiting = redis.call('HGET', TURN, owner)
  -- (Where the stream was lost, so is the entry that all others wait behind.)
  if waiting and #redis.call('XRANGE', BULK, waiting, waiting) > 0 then
    redis.call(first and 'LPUSH' or 'RPUSH', later_jobs(owner), cmsgpack.pack(job))
  else
    redis.call('HSET', TURN, owner, append(BULK, job))
  end
end

-- The owner's entry waits no more: its next job takes the place, at the end of the stream.
local function pass_turn(owner, entry)
  if redis.call('HGET', TURN, owner) ~= entry then
    return
  end
  local following = redis.call('LPOP', later_jobs(owner))
  if following then
    redis.call('HSET', TURN, owner, append(BULK, cmsgpack.unpack(following)))
  else
    redis.call('HDEL', TURN, owner)
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

-- The entry is not this consumer's delivery any more: another worker has it, or it is done.
local function claim_is_lost(stream, entry, consumer, deliveries)
  local pending = redis.call('XPENDING', stream, GROUP, entry, entry, 1)
  return #pending == 0 or pending[1][2] ~= consumer or pending[1][4] ~= tonumber(deliveries)
end

-- The job of an entry, or nil.
local function job_at(stream, entry)
  local found = redis.call('XRANGE', stream, entry, entry)[1]
  if not found then
    return nil
  end
  local job = {}
  for i = 1, #found[2], 2 do
    job[found[2][i]] = found[2][i + 1]
  end
  job.errors, job.lost = tonumber(job.errors or 0), tonumber(job.lost or 0)
  return job
end

-- Takes an entry out of its stream; its job, or nil where there was none.
local function remove_job(stream, entry)
  local job = stream == BULK and job_at(stream, entry)
  redis.call('XACK', stream, GROUP, entry)
  redis.call('XDEL', stream, entry)
  if job then
    pass_turn(owner_of(job), entry)
  end
end

local function finish_job(stream, entry)
  remove_job(stream, entry)
end

-- Puts a job back for any worker to take, after a pause.
local function put_back(stream, entry, job, pause_ms)
  remove_job(stream, entry)
  if pause_ms > 0 then
    -- (The entry makes it unique: equal members of a sorted set would be one.)
    redis.call('ZADD', LATER, int(NOW + pause_ms), cmsgpack.pack({ stream, job, entry }))
  else
    add_job(stream, job, true)
  end
end
