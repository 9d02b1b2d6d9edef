-- The dataset's atlas, shared by the sessions on it.

local function dataset_key(id)
  return P .. 'd:' .. id
end

-- Adds the jobs of all parts of an atlas that are neither done nor queued or running.
local function add_atlas_jobs(d, dataset)
  for index = 0, tonumber(redis.call('HGET', d, 'atlasparts')) - 1 do
    if redis.call('HEXISTS', d, 'atlaspart:' .. index) == 0
      and redis.call('SADD', d .. ':atlasflying', int(index)) == 1 then
      enqueue_for_dataset('ATLAS', dataset, int(index), redis.call('HGET', d, 'atlasjob:' .. index))
    end
  end
end

-- A session needs its dataset's atlas: what is missing of it is made.
local function want_atlas(s)
  local d = dataset_key(s.dataset)
  redis.call('SADD', d .. ':atlasusers', s.id)
  set(s, 'atlas_done', redis.call('HGET', d, 'atlasdone') or '0')
  if redis.call('HGET', d, 'atlas') ~= 'ready' then
    redis.call('HSET', d, 'atlas', 'building')
    add_atlas_jobs(d, s.dataset)
  end
end

-- The session needs the atlas no more; where nobody does, no further job of it is begun.
local function leave_atlas(s)
  local d = dataset_key(s.dataset)
  redis.call('SREM', d .. ':atlasusers', s.id)
  if redis.call('SCARD', d .. ':atlasusers') == 0 and redis.call('HGET', d, 'atlas') == 'building'
  then
    redis.call('HSET', d, 'atlas', 'idle')
    for _, index in ipairs(take_back(s.dataset, 'ATLAS')) do
      redis.call('SREM', d .. ':atlasflying', index)
    end
  end
end
