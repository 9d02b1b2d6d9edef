-- The atlases of a dataset, one a range of gamma, shared by the sessions on it that ask for that range.

local function dataset_key(id)
  return P .. 'd:' .. id
end

local function atlas_key(dataset, range)
  return dataset_key(dataset) .. ':atlas:' .. range
end

-- Does one thing to all chunks of what is stored under a name: 'PERSIST' or 'UNLINK'.
local function to_chunks(command, name, count)
  for i = 0, tonumber(count) - 1 do
    redis.call(command, name .. ':' .. i)
  end
end

-- Notes the jobs of the parts of an atlas, where they are not known yet.
local function declare_atlas(dataset, range, jobs)
  if redis.call('SADD', dataset_key(dataset) .. ':atlases', range) == 0 then
    return
  end
  local a = atlas_key(dataset, range)
  redis.call('HSET', a, 'parts', int(#jobs))
  for i, job in ipairs(jobs) do
    redis.call('HSET', a, 'job:' .. int(i - 1), job)
  end
end

-- The range and the index of the part that an ATLAS job is about.
local function atlas_part(job)
  return string.match(job.about, '^(%w+):(%d+)$')
end

-- What a preparation was put together from.
local function drop_parts(d, name)
  for _, field in ipairs(redis.call('HKEYS', d)) do
    local prep, index = string.match(field, '^preppart:(.+):(%d+)$')
    if prep and (name == nil or prep == name) then
      to_chunks('UNLINK', d .. ':prep:' .. prep .. ':part:' .. index, redis.call('HGET', d, field))
      redis.call('HDEL', d, field)
    end
  end
end

-- Adds the jobs of all parts of an atlas that are neither done nor queued or running.
local function add_atlas_jobs(dataset, range)
  local a = atlas_key(dataset, range)
  for index = 0, tonumber(redis.call('HGET', a, 'parts')) - 1 do
    if redis.call('HEXISTS', a, 'part:' .. index) == 0
      and redis.call('SADD', a .. ':flying', int(index)) == 1 then
      enqueue_for_dataset('ATLAS', dataset, range .. ':' .. int(index),
        redis.call('HGET', a, 'job:' .. index))
    end
  end
end

-- Takes back the jobs of an atlas that nobody has begun.
local function drop_atlas_jobs(dataset, range)
  local function of_range(job)
    return job.kind == 'ATLAS' and atlas_part(job) == range
  end
  for _, job in ipairs(take_back(dataset, of_range)) do
    local _, index = atlas_part(job)
    redis.call('SREM', atlas_key(dataset, range) .. ':flying', index)
  end
end

-- A session needs its atlas: what is missing of it is made.
local function want_atlas(s)
  local a = atlas_key(s.dataset, s.range)
  redis.call('SADD', a .. ':users', s.id)
  set(s, 'atlas_done', redis.call('HGET', a, 'done') or '0')
  if redis.call('HGET', a, 'state') ~= 'ready' then
    redis.call('HSET', a, 'state', 'building')
    add_atlas_jobs(s.dataset, s.range)
  end
end

-- The session needs its atlas no more; where nobody does, no further job of it is begun.
local function leave_atlas(s)
  local a = atlas_key(s.dataset, s.range)
  redis.call('SREM', a .. ':users', s.id)
  if redis.call('SCARD', a .. ':users') == 0 and redis.call('HGET', a, 'state') == 'building' then
    redis.call('HSET', a, 'state', 'idle')
    drop_atlas_jobs(s.dataset, s.range)
  end
end
