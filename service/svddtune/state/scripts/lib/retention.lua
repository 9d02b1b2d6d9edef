-- What is kept only for a time: sessions from their end on, and datasets from the moment on at which no session
-- uses them. For how long is a setting of the service, which looks now and then (`remove_expired`).

-- Sessions that have ended by the time of their end; datasets that no session uses by the time since when.
local ENDED, UNUSED = P .. 'ended', P .. 'unused'

-- Sessions that have ended and say for how long they are kept, by the time at which they go. They are not in
-- ENDED, where a setting counts; those that are kept for good are in neither.
local ENDING = P .. 'ending'

-- The session does not go by itself.
local function unindex_end(s)
  redis.call('ZREM', ENDED, s.id)
  redis.call('ZREM', ENDING, s.id)
end

-- The session, which has ended, goes when its time is over.
local function index_end(s)
  unindex_end(s)
  local own_ms = tonumber(s.retention_ms)
  if not own_ms then
    redis.call('ZADD', ENDED, s.ended_ms, s.id)
  elseif own_ms > 0 then
    redis.call('ZADD', ENDING, int(s.ended_ms + own_ms), s.id)
  end
end

local function has_ended(s)
  return s.state == 'COMPLETED' or s.state == 'CANCELLED' or s.state == 'FAILED'
end

-- The session has ended, at this time. What only a running one needs goes; it is made again where the
-- session is resumed, but for the explanations of queries that were asked already.
local function compact_session(s, ended_ms)
  if not keeps_ends() then
    return
  end
  redis.call('UNLINK', part(s, 'ranked'), part(s, 'ranked_explanations'), part(s, 'explanations'),
    part(s, 'fits'), part(s, 'waiting'), part(s, 'waiters'))
  set(s, 'ended_ms', int(ended_ms))
  index_end(s)
end

-- The session goes on after its end.
local function revive_session(s)
  redis.call('HDEL', s.key, 'ended_ms')
  s.ended_ms = nil
  unindex_end(s)
end

-- A session uses the dataset.
local function mark_used(dataset)
  redis.call('ZREM', UNUSED, dataset)
  redis.call('HDEL', dataset_key(dataset), 'unused_ms')
end

-- Somebody has done with the dataset; where no session uses it, its time begins anew.
local function mark_unused(dataset)
  local d = dataset_key(dataset)
  if keeps_ends() and redis.call('EXISTS', d) == 1 and redis.call('SCARD', d .. ':sessions') == 0 then
    redis.call('ZADD', UNUSED, int(NOW), dataset)
    redis.call('HSET', d, 'unused_ms', int(NOW))
  end
end

-- Removes all keys of a dataset that no session uses, and what refers to it.
local function forget_dataset(dataset)
  local d = dataset_key(dataset)
  local project, counted = unpack(redis.call('HMGET', d, 'project', 'counted'))
  project = project or nil
  if counted then
    count_usage(project, { datasets = -1, bytes = -tonumber(counted) })
  end
  local own = own_index('datasets', project)
  if own then
    redis.call('ZREM', own, dataset)
  end
  to_chunks('UNLINK', d .. ':x', redis.call('HGET', d, 'chunks'))
  to_chunks('UNLINK', d .. ':portrait', redis.call('HGET', d, 'portrait') or 0)
  drop_parts(d)
  for _, field in ipairs(redis.call('HKEYS', d)) do
    local k = string.match(field, '^prepchunks:(.+)$')
    if k then
      to_chunks('UNLINK', d .. ':prep:' .. k, redis.call('HGET', d, field))
    end
  end
  for _, range in ipairs(redis.call('SMEMBERS', d .. ':atlases')) do
    local a = atlas_key(dataset, range)
    for _, field in ipairs(redis.call('HKEYS', a)) do
      local index = string.match(field, '^part:(%d+)$')
      if index then
        to_chunks('UNLINK', a .. ':' .. index, redis.call('HGET', a, field))
      end
    end
    redis.call('UNLINK', a, a .. ':users', a .. ':flying')
  end
  redis.call('UNLINK', d, d .. ':atlases', d .. ':rules', d .. ':ids', d .. ':rows', d .. ':display',
    later_jobs(BULK, dataset))
  redis.call('ZREM', P .. 'datasets', dataset)
  redis.call('ZREM', UNUSED, dataset)
end
