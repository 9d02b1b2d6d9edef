-- A session's course: prepared, asking, estimating, ended.

-- Labels after which the detectors are compared anew.
local COMPARE_EVERY = 5
-- Labels of each class below which they cannot be compared.
local LEAST_OF_CLASS = 2

-- Lets the detectors be compared on the labels, every few labels. At most one REFINE of a session is
-- queued or running; it reads the labels when it starts.
local function compare_detectors(s)
  if s.state == 'LABELING' and s.needs_atlas == '1' and s.refining ~= '1' and not is_held(s)
    and tonumber(s.inlier) >= LEAST_OF_CLASS and tonumber(s.outlier) >= LEAST_OF_CLASS
    and math.abs(total(s) - tonumber(s.detectors_total)) >= COMPARE_EVERY then
    set(s, 'refining', '1')
    enqueue(BULK, 'REFINE', s, s.job_refine)
  end
end

-- Stops asking and lets the result be computed from the labels there are.
local function begin_estimating(s, reason)
  drop_queries(s)
  if s.needs_atlas ~= '1' then
    leave_atlas(s)
  end
  -- The result compares the detectors itself.
  if #take_back(s.id, function(job) return job.kind == 'REFINE' end) > 0 then
    set(s, 'refining', '0')
  end
  set(s, 'state', 'ESTIMATING', 'finish_reason', reason, 'estimating_ms', int(NOW))
  add(s, 'attempt', 1)
  enqueue(BULK, 'PLAN', s, s.job_plan)
end

-- What follows from a change of labels, queries or state: the end, or a new ranking. At most one
-- SUGGEST of a session is queued or running; it reads the labels when it starts.
local function advance(s)
  if s.state ~= 'LABELING' and s.state ~= 'PAUSED' then
    return
  end
  if total(s) >= tonumber(s.budget) and redis.call('SCARD', part(s, 'awaiting')) == 0 then
    begin_estimating(s, 'BUDGET_SPENT')
  elseif s.state == 'PAUSED' then
    return
  elseif pool_is_exhausted(s) then
    if redis.call('HLEN', part(s, 'asked')) == 0 then
      begin_estimating(s, 'POOL_EXHAUSTED')
    end
  elseif s.suggesting ~= '1' and not is_held(s) and total(s) + outstanding(s) < tonumber(s.budget)
    and (not ranking_is_fresh(s) or redis.call('LLEN', part(s, 'ranked')) == 0) then
    set(s, 'suggesting', '1')
    enqueue(HI, 'SUGGEST', s, s.job_suggest)
  end
end

-- The end of every script that changed labels, queries or state: what follows is done, what there is
-- is handed out, and whoever is concerned is told.
local function go_on(s, asking)
  advance(s)
  serve(s, asking)
  advance(s)
end

-- PREPARING is over once all that the session needs is there.
local function begin_when_ready(s)
  local d = dataset_key(s.dataset)
  if s.state == 'PREPARING' and redis.call('HGET', d, 'prep:' .. s.prep) == 'ready'
    and (s.needs_atlas ~= '1'
      or redis.call('HGET', atlas_key(s.dataset, s.range), 'state') == 'ready') then
    set(s, 'state', 'LABELING')
    -- (A session that was estimating when it was backed up only wants its result.)
    if s.finish_reason ~= '' then
      begin_estimating(s, s.finish_reason)
    end
    go_on(s)
  end
end

-- A session begins, or begins again: what it needs of its dataset is made where it is missing.
local function prepare_session(s)
  local d = dataset_key(s.dataset)
  local prepared = redis.call('HGET', d, 'prep:' .. s.prep)
  if prepared ~= 'ready' then
    redis.call('SADD', d .. ':waiting:' .. s.prep, s.id)
    if prepared ~= 'queued' then
      redis.call('HSET', d, 'prep:' .. s.prep, 'queued')
      enqueue_for_dataset('PREPARE', s.dataset, s.prep, s.job_prepare)
    end
  end
  want_atlas(s)
  begin_when_ready(s)
end

local function fail_session(s, reason, message)
  drop_queries(s)
  leave_atlas(s)
  set(s, 'state', 'FAILED', 'finish_reason', 'FAILED', 'failure_reason', reason,
    'failure_message', message, 'suggesting', '0')
  compact_session(s, NOW)
  touch(s)
end

-- Somebody still needs what a job makes.
local function is_wanted(job)
  if job.kind == 'PREPARE' then
    return redis.call('SCARD', dataset_key(job.dataset) .. ':waiting:' .. job.about) > 0
  elseif job.kind == 'ATLAS' then
    return redis.call('HGET', atlas_key(job.dataset, (atlas_part(job))), 'state') == 'building'
  end
  local state = redis.call('HGET', P .. 's:' .. job.session, 'state')
  return state and (job.kind == 'PREVIEW'
    or state ~= 'COMPLETED' and state ~= 'CANCELLED' and state ~= 'FAILED') or false
end

-- Removes all keys of a session, and what refers to it.
local function forget_session(s)
  for revision = 1, tonumber(s.revision) do
    redis.call('UNLINK', part(s, 'result:' .. revision), part(s, 'model:' .. revision))
  end
  for _, name in ipairs({ 'events', 'labels', 'dropped', 'answers', 'queries', 'asked', 'open',
    'leases', 'ranked', 'waiting', 'waiters', 'held', 'votes', 'awaiting', 'labelers', 'withdrawn',
    'fits', 'history', 'corrections', 'ranked_explanations', 'explanations',
    'moments', 'cells', 'places', 'margins', 'controls' }) do
    redis.call('UNLINK', part(s, name))
  end
  leave_atlas(s)
  redis.call('UNLINK', s.key, later_jobs(HI, s.id), later_jobs(BULK, s.id))
  redis.call('ZREM', P .. 'sessions', s.id)
  if s.counted then
    count_usage(s.project, { sessions = -1 })
  end
  local own = own_index('sessions', s.project)
  if own then
    redis.call('ZREM', own, s.id)
  end
  redis.call('SREM', dataset_key(s.dataset) .. ':sessions', s.id)
  mark_unused(s.dataset)
  unindex_end(s)
  redis.call('SREM', dataset_key(s.dataset) .. ':waiting:' .. s.prep, s.id)
  redis.call('HDEL', P .. 'labeling', s.id)
end

-- Deletes a session, and tells whoever watches it.
local function delete_session(s)
  forget_session(s)
  redis.call('XADD', NOTICES, 'MAXLEN', '~', '10000', '*', 'session', s.id, 'version', s.version,
    'state', 'DELETED', 'moved', '1', 'priority', s.priority, 'created_ms', s.created_ms,
    'holders', '', 'expires_in_ms', '')
end
