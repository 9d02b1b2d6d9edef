-- Queries: open, leased, settled. A query wants votes; each lease may bring one.

-- Rows of a labeler that may be shown to it again.
local MOST_REPEATABLE = 1000

local function get_query(s, n)
  local text = redis.call('HGET', part(s, 'queries'), int(n))
  return text and cjson.decode(text)
end

local function put_query(s, q)
  redis.call('HSET', part(s, 'queries'), int(q.n), cjson.encode(q))
end

-- The leases a holder has, as ids.
local function held_by(s, holder)
  local text = redis.call('HGET', part(s, 'held'), holder)
  return text and cjson.decode(text) or {}
end

local function put_held(s, holder, ids)
  if #ids == 0 then
    redis.call('HDEL', part(s, 'held'), holder)
  else
    redis.call('HSET', part(s, 'held'), holder, cjson.encode(ids))
  end
end

local function query_of_lease(id)
  return string.match(id, '%-(%d+)$')
end

-- Ends one lease; its holder is told where it did not do so itself.
local function end_lease(s, q, id, speaker)
  local lease = q.leases[id]
  q.leases[id] = nil
  redis.call('ZREM', part(s, 'leases'), id)
  local ids = {}
  for _, other in ipairs(held_by(s, lease.holder)) do
    if other ~= id then
      ids[#ids + 1] = other
    end
  end
  put_held(s, lease.holder, ids)
  if lease.holder ~= speaker then
    tell(s, lease.holder)
  end
end

local function lease_count(q)
  local count = 0
  for _ in pairs(q.leases) do
    count = count + 1
  end
  return count
end

-- The query is out with nobody and waits for nobody.
local function close_query(s, q, state, speaker)
  q.state = state
  for id in pairs(q.leases) do
    end_lease(s, q, id, speaker)
  end
  redis.call('LREM', part(s, 'open'), 0, int(q.n))
  if redis.call('HGET', part(s, 'asked'), int(q.row)) == int(q.n) then
    redis.call('HDEL', part(s, 'asked'), int(q.row))
    redis.call('SREM', part(s, 'awaiting'), int(q.row))
  end
  put_query(s, q)
end

-- The query waits for a labeler where it wants more votes than are given or out: in front, or
-- behind new queries where `later`.
local function queue_query(s, q, later)
  if q.repeats then
    -- It was for one labeler's eyes only.
    return close_query(s, q, 'closed')
  end
  local _, wanted, count = judge(s, load_votes(s, q.row), q, withdrawn_labelers(s))
  redis.call('LREM', part(s, 'open'), 0, int(q.n))
  if wanted > count + lease_count(q) then
    q.later = later
    redis.call(later and 'RPUSH' or 'LPUSH', part(s, 'open'), int(q.n))
  end
  put_query(s, q)
end

-- Votes on a row have changed: its label follows, and its query is open or settled. `speaker` is
-- the holder that caused it.
local function settle(s, row, n, speaker)
  local q = n > 0 and get_query(s, n) or nil
  local votes = load_votes(s, row)
  local label, wanted, count = judge(s, votes, q, withdrawn_labelers(s))
  put_label(s, row, label, n)
  if not q then
    return
  end
  if count >= wanted then
    close_query(s, q, 'settled', speaker)
    return
  end
  q.state = 'open'
  redis.call('HSET', part(s, 'asked'), int(row), int(n))
  local awaiting = label and label ~= '0'
  redis.call(awaiting and 'SADD' or 'SREM', part(s, 'awaiting'), int(row))
  queue_query(s, q, false)
end

-- Nothing is out with anybody any more, and nothing waits to be asked or fitted.
local function drop_queries(s)
  local open = redis.call('HVALS', part(s, 'asked'))
  for _, id in ipairs(redis.call('ZRANGE', part(s, 'leases'), 0, -1)) do
    open[#open + 1] = query_of_lease(id)
  end
  for _, n in ipairs(open) do
    local q = get_query(s, n)
    if q.state == 'open' then
      close_query(s, q, 'closed')
    end
  end
  redis.call('DEL', part(s, 'ranked'), part(s, 'fits'))
end

local function stop_waiting(s, holder)
  redis.call('ZREM', part(s, 'waiting'), holder)
  redis.call('HDEL', part(s, 'waiters'), holder)
end

-- Leases that have run out end. Who let one run out gets nothing new until it asks again.
local function expire_leases(s)
  local due = redis.call('ZRANGEBYSCORE', part(s, 'leases'), '-inf', int(NOW))
  for i = #due, 1, -1 do
    local q = get_query(s, query_of_lease(due[i]))
    stop_waiting(s, q.leases[due[i]].holder)
    end_lease(s, q, due[i])
    queue_query(s, q, false)
  end
  return #due > 0
end

-- The ranking was made for the labels there are.
local function ranking_is_fresh(s)
  return s.ranked_rev == s.rev
end

local function pool_is_exhausted(s)
  return s.exhausted_rev == s.rev
end

local function nothing_new(s)
  return total(s) + outstanding(s) >= tonumber(s.budget) or pool_is_exhausted(s)
end

-- A query becomes the holder's.
local function lease_query(s, q, w)
  local id = string.sub(redis.sha1hex(s.secret .. ' ' .. int(q.n) .. ' ' .. #q.issued), 1, 16)
    .. '-' .. int(q.n)
  local expires = NOW + lease_length(s, labeler_info(s, w.labeler))
  q.leases[id] = { holder = w.holder, labeler = w.labeler, expires = expires, since = NOW }
  -- An answer that comes after the lease has ended is recognised by these.
  q.issued[#q.issued + 1] = id
  redis.call('ZADD', part(s, 'leases'), int(expires), id)
  local ids = held_by(s, w.holder)
  ids[#ids + 1] = id
  put_held(s, w.holder, ids)
  if q.repeats then
    put_query(s, q)
  else
    queue_query(s, q, false)
  end
  tell(s, w.holder)
end

-- Whether this labeler may get the query: it has not answered, holds or passed it on to others.
local function may_get(s, q, labeler)
  for _, name in ipairs(q.exclude) do
    if name == labeler then
      return false
    end
  end
  for _, lease in pairs(q.leases) do
    if lease.labeler == labeler then
      return false
    end
  end
  return not vote_of(load_votes(s, q.row), labeler)
end

-- A query that waits, the first in the queue that this labeler may get.
local function waiting_query(s, labeler, also_later)
  for _, n in ipairs(redis.call('LRANGE', part(s, 'open'), 0, -1)) do
    local q = get_query(s, n)
    if (also_later or not q.later) and may_get(s, q, labeler) then
      return q
    end
  end
end

local function make_query(s, row, score, rule, predicted, context)
  add(s, 'queries', 1)
  return { n = tonumber(s.queries), row = row, score = score, rule = rule, predicted = predicted,
    context = context, state = 'open', issued = {}, exclude = {}, leases = {} }
end

-- A new query for the best row of the fresh ranking. With `peek` only whether there is one.
local function new_query(s, peek)
  if nothing_new(s) or not ranking_is_fresh(s) then
    return
  end
  while true do
    local item = redis.call('LINDEX', part(s, 'ranked'), 0)
    if not item then
      return
    end
    local row, score, rule, predicted, context = unpack(cjson.decode(item))
    local field = int(row)
    local free = redis.call('HEXISTS', part(s, 'asked'), field) == 0
      and redis.call('SISMEMBER', part(s, 'dropped'), field) == 0
      and redis.call('HEXISTS', part(s, 'labels'), field) == 0
    if free and peek then
      return true
    end
    redis.call('LPOP', part(s, 'ranked'))
    if free then
      local q = make_query(s, row, score, rule, predicted, context)
      redis.call('HSET', part(s, 'asked'), field, int(q.n))
      -- With these the choice can be computed again: the log up to `moment` is what it rests on.
      redis.call('XADD', part(s, 'events'), '*', 'kind', 'ASKED', 'row', field, 'query', int(q.n),
        'rev', s.ranked_rev, 'moment', s.ranked_moment, 'queries', s.ranked_queries)
      return q
    end
  end
end

-- An observation the labeler answered before, where it is due to see one again.
local function repeat_query(s, labeler)
  local every = tonumber(s.repeat_every)
  if every == 0 then
    return
  end
  local info = labeler_info(s, labeler)
  if info.since < every then
    return
  end
  while #info.rows > 0 do
    local row = table.remove(info.rows, 1)
    if vote_of(load_votes(s, row), labeler) then
      info.since = 0
      save_labeler(s, labeler, info)
      local q = make_query(s, row, 0, 'repeat', 0, '')
      q.repeats = labeler
      return q
    end
  end
end

-- The labeler has answered: its pace, and what may be shown to it again.
local function note_answer(s, labeler, row, ms, is_repeat)
  local info = labeler_info(s, labeler)
  info.answers, info.last = info.answers + 1, NOW
  if ms then
    note_pace(info, ms)
  end
  if ms and not is_repeat and tonumber(s.repeat_every) > 0 then
    info.since = info.since + 1
    info.rows[#info.rows + 1] = row
    if #info.rows > MOST_REPEATABLE then
      table.remove(info.rows, 1)
    end
  end
  save_labeler(s, labeler, info)
end

local function next_query(s, labeler)
  return repeat_query(s, labeler) or waiting_query(s, labeler, false) or new_query(s)
    or (nothing_new(s) and waiting_query(s, labeler, true)) or nil
end

-- The holder takes queries until it holds `most`: automated ones before people, then first come
-- first served. A holder that is `told` leases nothing until it asks, but is told when it may.
local function wait_for_queries(s, w)
  local automated = w.automated and 0 or 1e14
  redis.call('ZADD', part(s, 'waiting'), 'NX', int(automated + NOW), w.holder)
  redis.call('HSET', part(s, 'waiters'), w.holder, cjson.encode(w))
end

-- Hands out what there is to those who wait. `asking` is the holder that asks right now.
local function serve(s, asking)
  if s.state ~= 'LABELING' then
    return
  end
  for _, holder in ipairs(redis.call('ZRANGE', part(s, 'waiting'), 0, -1)) do
    if redis.call('LLEN', part(s, 'open')) == 0 and not new_query(s, true)
      and tonumber(s.repeat_every) == 0 then
      return
    end
    local w = cjson.decode(redis.call('HGET', part(s, 'waiters'), holder))
    if withdrawn_labelers(s)[w.labeler] then
      stop_waiting(s, holder)
    elseif w.told and holder ~= asking then
      if waiting_query(s, w.labeler, nothing_new(s)) or new_query(s, true) then
        tell(s, holder)
        stop_waiting(s, holder)
      end
    else
      local held = #held_by(s, holder)
      while held < w.most do
        local q = next_query(s, w.labeler)
        if not q then
          break
        end
        lease_query(s, q, w)
        held = held + 1
      end
      if held >= w.most then
        stop_waiting(s, holder)
      end
    end
  end
end
