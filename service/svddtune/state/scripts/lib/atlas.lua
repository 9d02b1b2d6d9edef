-- The dataset's atlas, shared by the sessions on it.

local ATLAS_IN_FLIGHT = 2

local function dataset_key(id)
  return P .. 'd:' .. id
end

-- Adds ATLAS jobs of a dataset, few at a time: others' bulk jobs get their turn between them.
local function feed_atlas(d, dataset)
  while redis.call('SCARD', d .. ':atlasflying') < ATLAS_IN_FLIGHT do
    local index = redis.call('LPOP', d .. ':atlastodo')
    if not index then
      return
    end
    redis.call('SADD', d .. ':atlasflying', index)
    redis.call('XADD', BULK, '*', 'kind', 'ATLAS', 'session', '', 'dataset', dataset,
      'payload', redis.call('HGET', d, 'atlasjob:' .. index))
  end
end

-- A session needs its dataset's atlas: what is missing of it is made.
local function want_atlas(s)
  local d = dataset_key(s.dataset)
  redis.call('SADD', d .. ':atlasusers', s.id)
  set(s, 'atlas_done', redis.call('HGET', d, 'atlasdone') or '0')
  local state = redis.call('HGET', d, 'atlas')
  if state == 'ready' or state == 'building' then
    return
  end
  redis.call('HSET', d, 'atlas', 'building')
  redis.call('DEL', d .. ':atlastodo')
  for index = 0, tonumber(redis.call('HGET', d, 'atlasparts')) - 1 do
    if redis.call('HEXISTS', d, 'atlaspart:' .. index) == 0
      and redis.call('SISMEMBER', d .. ':atlasflying', int(index)) == 0 then
      redis.call('RPUSH', d .. ':atlastodo', int(index))
    end
  end
  feed_atlas(d, s.dataset)
end

-- The session needs the atlas no more; where nobody does, no further job of it is added.
local function leave_atlas(s)
  local d = dataset_key(s.dataset)
  redis.call('SREM', d .. ':atlasusers', s.id)
  if redis.call('SCARD', d .. ':atlasusers') == 0 and redis.call('HGET', d, 'atlas') == 'building'
  then
    redis.call('HSET', d, 'atlas', 'idle')
    redis.call('DEL', d .. ':atlastodo')
  end
end
