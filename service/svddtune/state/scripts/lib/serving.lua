-- Who gets which query: new ones by the ranking, those that wait, own ones again.

-- Rows of a labeler that may be shown to it again.
local MOST_REPEATABLE = 1000

-- The holder waits for queries until it holds `most`. Automated holders are served before people, then the
-- one that came first. A `notify_only` holder gets a notice that there are queries, and no lease until it
-- asks. A withdrawn labeler waits until it is reinstated.
local function wait_for_queries(s, w)
  local automated = w.automated and 0 or 1e14
  redis.call('ZADD', part(s, 'waiting'), 'NX', int(automated + NOW), w.holder)
  redis.call('HSET', part(s, 'waiters'), w.holder, cjson.encode(w))
end

local function stop_waiting(s, holder)
  redis.call('ZREM', part(s, 'waiting'), holder)
  redis.call('HDEL', part(s, 'waiters'), holder)
end

-- Whether the labeler has announced all tags that the session asks for.
local function has_tags(s, w)
  local announced = {}
  for _, tag in ipairs(w.tags or {}) do
    announced[tag] = true
  end
  for tag in string.gmatch(s.required_tags or '', '%S+') do
    if not announced[tag] then
      return false
    end
  end
  return true
end

-- The holder that answered or passed goes on waiting where it asks for more and has room.
local function wait_on(s, w)
  if w and s.state == 'LABELING' and #held_by(s, w.holder) < w.most and has_tags(s, w) then
    wait_for_queries(s, w)
  end
end

-- Whether two holders or more have queries or wait for some.
local function several_at_work(s)
  local holders, count = {}, 0
  local function note(holder)
    count = count + (holders[holder] and 0 or 1)
    holders[holder] = true
  end
  for _, holder in ipairs(redis.call('HKEYS', part(s, 'held'))) do
    note(holder)
  end
  for _, text in ipairs(redis.call('HVALS', part(s, 'waiters'))) do
    local w = cjson.decode(text)
    if not withdrawn_labelers(s)[w.labeler] then
      note(w.holder)
    end
  end
  return count > 1
end

-- A lease that ends later than any can tells that the server's clock went back: it would last for as
-- much longer.
local function begin_late_leases_anew(s)
  local latest = int(NOW + LONGEST * tonumber(s.lease_ms))
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', part(s, 'leases'), '(' .. latest, '+inf')) do
    local q = get_query(s, query_of_lease(id))
    local lease = q.leases[id]
    lease.since, lease.expires = NOW, NOW + lease_length(s, labeler_info(s, lease.labeler))
    redis.call('ZADD', part(s, 'leases'), int(lease.expires), id)
    put_query(s, q)
  end
end

-- Leases that have run out end; how many. Who let one run out gets nothing new until it asks again.
local function expire_leases(s)
  local due = redis.call('ZRANGEBYSCORE', part(s, 'leases'), '-inf', int(NOW))
  for i = #due, 1, -1 do
    local q = get_query(s, query_of_lease(due[i]))
    stop_waiting(s, q.leases[due[i]].holder)
    end_lease(s, q, due[i])
    queue_query(s, q, false)
  end
  return #due
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

-- A query that waits, the first in the queue that this labeler may get.
local function waiting_query(s, labeler, also_later)
  for _, n in ipairs(redis.call('LRANGE', part(s, 'open'), 0, -1)) do
    local q = get_query(s, n)
    if (also_later or not q.later) and may_get(s, q, labeler) then
      return q
    end
  end
end

local function make_query(s, row, predicted)
  add(s, 'queries', 1)
  return { n = tonumber(s.queries), row = row, predicted = predicted, state = 'open', issued = {},
    leased = 0, exclude = {}, leases = {} }
end

-- The rows of the ranking that are still free, best first, as {item, decoded}. Others leave it.
local function look_up_free_items(s)
  local items = redis.call('LRANGE', part(s, 'ranked'), 0, -1)
  local decoded, fields, free = {}, {}, {}
  if #items == 0 then
    return free
  end
  for i, item in ipairs(items) do
    decoded[i] = cjson.decode(item)
    fields[i] = int(decoded[i][1])
  end
  local asked = redis.call('HMGET', part(s, 'asked'), unpack(fields))
  local labels = redis.call('HMGET', part(s, 'labels'), unpack(fields))
  local dropped = redis.call('SMISMEMBER', part(s, 'dropped'), unpack(fields))
  for i, item in ipairs(items) do
    if not asked[i] and not labels[i] and dropped[i] == 0 then
      free[#free + 1] = { item, decoded[i] }
    else
      redis.call('LREM', part(s, 'ranked'), 1, item)
    end
  end
  return free
end

-- Those of a fresh ranking, while something new may be asked. `serve` looks them up once, however many
-- holders it serves; `new_query` takes out the one that it uses.
local function free_items(s)
  if nothing_new(s) or not ranking_is_fresh(s) then
    return {}
  end
  s.free = s.free or look_up_free_items(s)
  return s.free
end

-- The place among them of the best that this labeler may be asked about, and all of them. (It may have
-- voted on a row without a label: before the session was finished once.)
local function best_item(s, labeler)
  local free = free_items(s)
  for place, one in ipairs(free) do
    if not vote_of(load_votes(s, one[2][1]), labeler) then
      return place, free
    end
  end
end

-- The trace that new queries follow from; nil for none.
local function ranked_trace(s)
  return (s.ranked_trace or '') ~= '' and s.ranked_trace or nil
end

-- A new query for the best row of the fresh ranking.
local function new_query(s, labeler)
  local place, free = best_item(s, labeler)
  if not place then
    return
  end
  local item, ranked = unpack(table.remove(free, place))
  redis.call('LREM', part(s, 'ranked'), 1, item)
  local q = make_query(s, unpack(ranked))
  q.trace = ranked_trace(s)
  local explanation = redis.call('HGET', part(s, 'ranked_explanations'), int(q.row))
  redis.call('HSET', part(s, 'explanations'), int(q.n), explanation)
  redis.call('HSET', part(s, 'asked'), int(q.row), int(q.n))
  -- With these the choice can be computed again: the log up to `moment` is what it rests on.
  redis.call('XADD', part(s, 'events'), '*', 'kind', 'ASKED', 'row', int(q.row), 'query', int(q.n),
    'rev', s.ranked_rev, 'moment', s.ranked_moment, 'queries', s.ranked_queries)
  return q
end

-- A query that was put back for later: only where nothing new comes before it.
local function later_query(s, labeler)
  if nothing_new(s) or #free_items(s) > 0 then
    return waiting_query(s, labeler, true)
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
    if vote_of(load_votes(s, row), labeler)
      and redis.call('SISMEMBER', part(s, 'dropped'), int(row)) == 0 then
      info.since = 0
      save_labeler(s, labeler, info)
      local q = make_query(s, row, 0)
      q.repeats = labeler
      return q
    end
  end
end

-- Control items among the first queries of a labeler, so many: their share. Where among the 1 / share
-- queries that belong to one of them it comes is drawn from the seed, so that nobody can count.
local function controls_due(s, labeler, queries)
  local due = queries * tonumber(s.control_share)
  local whole = math.floor(due)
  local drawn = string.sub(redis.sha1hex(s.control_seed .. ' ' .. labeler .. ' ' .. int(whole)), 1, 8)
  return whole + (due - whole > tonumber(drawn, 16) / 2 ^ 32 and 1 or 0)
end

-- The labeler's next control item, where one is due and there is something to show beside it. It is a
-- repeat to all that does not know better: a query for this labeler alone, whose answer is no vote.
local function control_query(s, labeler)
  if not s.control_share then
    return
  end
  local info = labeler_info(s, labeler)
  local had = info.controls or 0
  if had >= controls_due(s, labeler, (info.queries or 0) + 1) then
    return
  end
  local row = redis.call('LINDEX', part(s, 'controls'), int(had))
  local explanation = row and redis.call('HGET', part(s, 'ranked_explanations'), row)
  if not explanation then
    return
  end
  info.controls = had + 1
  save_labeler(s, labeler, info)
  local q = make_query(s, tonumber(row), 0)
  q.repeats, q.control, q.trace = labeler, true, ranked_trace(s)
  redis.call('HSET', part(s, 'explanations'), int(q.n), explanation)
  return q
end

-- The labeler gets one more query: its control items are a share of them.
local function count_query(s, labeler)
  if s.control_share then
    local info = labeler_info(s, labeler)
    info.queries = (info.queries or 0) + 1
    save_labeler(s, labeler, info)
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
  return control_query(s, labeler) or repeat_query(s, labeler) or waiting_query(s, labeler, false)
    or new_query(s, labeler) or later_query(s, labeler)
end

-- Hands a waiting holder what there is for it. Where it is only to be told, that there is something.
local function serve_one(s, w, asks)
  if withdrawn_labelers(s)[w.labeler] then
    return
  end
  if w.notify_only and not asks then
    if waiting_query(s, w.labeler, false) or best_item(s, w.labeler)
      or later_query(s, w.labeler) then
      tell(s, w.holder)
      stop_waiting(s, w.holder)
    end
    return
  end
  local held = #held_by(s, w.holder)
  while held < w.most do
    local q = next_query(s, w.labeler)
    if not q then
      return
    end
    lease_query(s, q, w)
    count_query(s, w.labeler)
    held = held + 1
  end
  stop_waiting(s, w.holder)
end

-- Hands out what there is to those who wait. `asking` is the holder that asks right now.
local function serve(s, asking)
  if s.state ~= 'LABELING' then
    return
  end
  s.free = nil
  for _, holder in ipairs(redis.call('ZRANGE', part(s, 'waiting'), 0, -1)) do
    if redis.call('LLEN', part(s, 'open')) == 0 and #free_items(s) == 0
      and tonumber(s.repeat_every) == 0 and not s.control_share then
      return
    end
    local w = cjson.decode(redis.call('HGET', part(s, 'waiters'), holder))
    serve_one(s, w, holder == asking)
  end
end
