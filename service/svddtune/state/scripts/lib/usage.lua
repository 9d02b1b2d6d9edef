-- What projects have in this partition, as their limits count it: sessions, datasets and the bytes of their
-- rows. The field `counted` marks what is counted; of a dataset it has the bytes. What was stored before there
-- were counts lacks it until `recount`.

local KINDS = { 'sessions', 'datasets', 'bytes' }

local function usage_key(project)
  return P .. 'usage:' .. (project or 'default')
end

-- A refusal where a project would have more than it may. `limits` has, by kind, the limit and what the project
-- has in other partitions; `added` what it is to get.
local function refuse_above(project, limits, added)
  for _, kind in ipairs(KINDS) do
    local limit = limits[kind]
    if limit and added[kind] then
      local used = limit[2] + tonumber(redis.call('HGET', usage_key(project), kind) or 0)
      if used + added[kind] > limit[1] then
        return refuse('QUOTA_EXCEEDED', { quota = kind, limit = limit[1], used = used,
          project = project or 'default' })
      end
    end
  end
end

-- Counts what a project got, or lost.
local function count_usage(project, added)
  local key = usage_key(project)
  for kind, count in pairs(added) do
    if redis.call('HINCRBY', key, kind, int(count)) <= 0 then
      redis.call('HDEL', key, kind)
    end
  end
end

-- What projects have, by name and kind. `sizes` has the bytes of datasets that are not counted; `each` is called
-- with the key of each session and dataset, and what `counted` is to be.
local function usage_by_definition(sizes, each)
  local found = {}

  local function add_to(project, added)
    local has = found[project or 'default'] or {}
    found[project or 'default'] = has
    for kind, number in pairs(added) do
      has[kind] = (has[kind] or 0) + number
    end
  end

  for _, id in ipairs(redis.call('ZRANGE', P .. 'sessions', 0, -1)) do
    local key = P .. 's:' .. id
    local there, project = unpack(redis.call('HMGET', key, 'id', 'project'))
    if there then
      add_to(project, { sessions = 1 })
      if each then
        each(key, 1)
      end
    end
  end
  for _, id in ipairs(redis.call('ZRANGE', P .. 'datasets', 0, -1)) do
    local key = P .. 'd:' .. id
    local counted, project = unpack(redis.call('HMGET', key, 'counted', 'project'))
    local size = tonumber(counted or sizes[id] or nil)
    if size then
      add_to(project, { datasets = 1, bytes = size })
      if each then
        each(key, size)
      end
    end
  end
  return found
end

-- By project and kind: how much is counted, and how much there is; nil for nothing.
local function compare_usage(projects, found)
  local compared = {}

  local function compare(project)
    local has, kinds = found[project] or {}, {}
    for _, kind in ipairs(KINDS) do
      kinds[kind] = { tonumber(redis.call('HGET', usage_key(project), kind) or 0), has[kind] or 0 }
    end
    compared[project] = kinds
  end

  for _, project in ipairs(projects) do
    compare(project)
  end
  for project in pairs(found) do
    compare(project)
  end
  return next(compared) and compared
end
