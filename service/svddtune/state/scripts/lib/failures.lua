-- Jobs that fail. One that raised an error counts it, one whose worker vanished counts that; both
-- are tried again, after pauses that grow, until a limit of its own.

-- Pauses in ms before the next try: after the first errors, and after the first losses (a job that
-- kills its workers must not take them all at once). Later ones are as the last.
local AFTER_ERRORS = { 1000, 4000 }
local AFTER_LOSSES = { 0, 0, 500, 1000, 2000, 4000, 8000, 16000, 30000 }

-- What becomes of those that wait for a job that is given up.

local function fail_preparation(job, reason, message)
  local d = dataset_key(job.dataset)
  if redis.call('HGET', d, 'prep:' .. job.about) ~= 'queued' then
    return
  end
  redis.call('HSET', d, 'prep:' .. job.about, 'failed')
  for _, sid in ipairs(redis.call('SMEMBERS', d .. ':waiting:' .. job.about)) do
    local s = load_session(sid)
    if s and s.state == 'PREPARING' then
      fail_session(s, reason, message)
    end
  end
  redis.call('DEL', d .. ':waiting:' .. job.about)
end

local function fail_atlas(job, reason, message)
  local range, index = atlas_part(job)
  local a = atlas_key(job.dataset, range)
  redis.call('SREM', a .. ':flying', index)
  if redis.call('EXISTS', a) == 0 then
    return
  end
  redis.call('HSET', a, 'state', 'failed')
  drop_atlas_jobs(job.dataset, range)
  for _, sid in ipairs(redis.call('SMEMBERS', a .. ':users')) do
    local s = load_session(sid)
    if s and s.state == 'PREPARING' and s.needs_atlas == '1' then
      fail_session(s, reason, message)
    end
  end
end

local function fail_ranking(job, reason, message)
  local s = load_session(job.session)
  if not s then
    return
  end
  set(s, 'suggesting', '0')
  if s.state == 'LABELING' or s.state == 'PAUSED' then
    fail_session(s, reason, message)
  end
end

-- The session goes on without the comparison; it is tried again after some more labels.
local function fail_comparison(job)
  local s = load_session(job.session)
  if s then
    set(s, 'refining', '0', 'detectors_total', int(total(s)))
  end
end

-- A session that was resumed meanwhile goes on without the result it asked for before.
local function fail_result(job, reason, message)
  local s = load_session(job.session)
  if s and s.state == 'ESTIMATING' and (job.about == '' or job.about == s.attempt) then
    fail_session(s, reason, message)
  end
end

local FAIL = { PREPARE = fail_preparation, ATLAS = fail_atlas, SUGGEST = fail_ranking, REFINE = fail_comparison,
  PLAN = fail_result, FIT = fail_result, ESTIMATE = fail_result }

-- Gives up a job that was taken out: it becomes a dead letter, and what waits for it says so.
local function bury(job, reason, message)
  redis.call('XADD', DEAD, 'MAXLEN', '~', '1000', '*', 'kind', job.kind, 'session', job.session,
    'dataset', job.dataset, 'payload', job.payload, 'about', job.about or '', 'stream', job.stream,
    'errors', int(job.errors), 'lost', int(job.lost), 'reason', reason, 'message', message)
  if FAIL[job.kind] then
    FAIL[job.kind](job, reason, message)
  end
end

local function pause_after(pauses, count)
  return pauses[math.min(count, #pauses)]
end

-- The server's clock went back: claims would be silent for as much longer, and pauses last as long.
-- Both begin anew.
local function begin_waits_anew()
  for _, stream in ipairs({ HI, BULK }) do
    for _, claim in ipairs(redis.pcall('XPENDING', stream, GROUP, '-', '+', 1000)) do
      redis.call('XCLAIM', stream, GROUP, claim[2], '0', claim[1], 'JUSTID')
    end
  end
  local latest = NOW + AFTER_LOSSES[#AFTER_LOSSES]
  for _, packed in ipairs(redis.call('ZRANGEBYSCORE', LATER, '(' .. int(latest), '+inf')) do
    redis.call('ZADD', LATER, int(latest), packed)
  end
end

-- The job, which was taken out, raised an error; true where that was one too many.
local function count_error(job, most, reason, message)
  job.errors = job.errors + 1
  if job.errors >= most then
    bury(job, reason, message)
    return true
  end
  put_back(job, pause_after(AFTER_ERRORS, job.errors))
  return false
end

-- The worker of the job, which was taken out, vanished; true where that was once too often. `how` says
-- what is known of it.
local function count_loss(job, most, how)
  job.lost = job.lost + 1
  if job.lost >= most then
    bury(job, 'WORKER_LOST', job.kind .. ' lost its worker ' .. int(job.lost)
      .. ' times (last: ' .. how .. '); it may need more memory than there is.')
    return true
  end
  put_back(job, pause_after(AFTER_LOSSES, job.lost))
  return false
end
