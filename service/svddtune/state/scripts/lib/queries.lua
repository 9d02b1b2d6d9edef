-- Queries: open, leased, settled. A query wants votes; each lease may bring one.

local function get_query(s, n)
  local text = redis.call('HGET', part(s, 'queries'), int(n))
  return text and cjson.decode(text)
end

-- The number of the query that the votes on a row are for: the one that is open, else the latest of
-- them and of `hint`; 0 where there is none.
local function number_of_query(s, row, votes, hint)
  local n = tonumber(redis.call('HGET', part(s, 'asked'), int(row)))
  if n then
    return n
  end
  n = hint or 0
  for _, vote in ipairs(votes) do
    n = math.max(n, vote[3])
  end
  return n
end

-- The query itself, which may want votes; nil where there is none, or the row was dropped: then nobody
-- is asked, whatever votes come.
local function query_for_votes(s, row, n)
  if n > 0 and redis.call('SISMEMBER', part(s, 'dropped'), int(row)) == 0 then
    return get_query(s, n)
  end
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

-- Whether the query waits for an adjudicator; the session counts those that do.
local function note_conflict(s, q, conflict)
  if (q.conflict or false) ~= (conflict or false) then
    q.conflict = conflict or nil
    add(s, 'conflicts', conflict and 1 or -1)
  end
end

-- The query is out with nobody and waits for nobody.
local function close_query(s, q, state, speaker)
  q.state = state
  note_conflict(s, q, false)
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

-- The row is of no use any more to be shown again: to this labeler, or to any where none is given.
local function end_repeats(s, row, labeler)
  if s.repeat_every == '0' then
    return
  end
  for _, id in ipairs(redis.call('ZRANGE', part(s, 'leases'), 0, -1)) do
    local q = get_query(s, query_of_lease(id))
    if q.repeats and q.row == row and (not labeler or q.repeats == labeler) then
      close_query(s, q, 'closed')
    end
  end
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

-- Votes on a row have changed: its label follows, and its query `n` is open or settled. `speaker` is
-- the holder that caused it.
local function settle(s, row, n, speaker)
  local q = query_for_votes(s, row, n)
  local votes = load_votes(s, row)
  local label, wanted, count, conflict = judge(s, votes, q, withdrawn_labelers(s))
  put_label(s, row, label, n)
  if not q then
    return
  end
  note_conflict(s, q, conflict)
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

local function drop_ranking(s)
  redis.call('DEL', part(s, 'ranked'), part(s, 'ranked_explanations'))
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
  drop_ranking(s)
  redis.call('DEL', part(s, 'fits'))
end

-- Lease ids of a query that are remembered. (Whoever takes and gives back a query for ever must not
-- make it grow for ever.)
local MOST_ISSUED = 100

-- A holder is "labeler/stream".
local function labeler_of(holder)
  return string.match(holder, '^[^/]*')
end

-- The lease of this id, also where it has ended, as {id, holder, what the holder ended it by}; nil where
-- it was never this labeler's.
local function issued_to(q, id, labeler)
  for _, one in ipairs(q.issued) do
    if one[1] == id and labeler_of(one[2]) == labeler then
      return one
    end
  end
end

-- A query becomes the holder's.
local function lease_query(s, q, w)
  local id = string.sub(redis.sha1hex(s.secret .. ' ' .. int(q.n) .. ' ' .. int(q.leased)), 1, 16)
    .. '-' .. int(q.n)
  q.leased = q.leased + 1
  local expires = NOW + lease_length(s, labeler_info(s, w.labeler))
  q.leases[id] = { holder = w.holder, labeler = w.labeler, expires = expires, since = NOW }
  -- An answer that comes after the lease has ended is recognised by these, and a repeated skip.
  q.issued[#q.issued + 1] = { id, w.holder }
  local oldest = 1
  while #q.issued > MOST_ISSUED do
    if q.leases[q.issued[oldest][1]] then
      oldest = oldest + 1
    else
      table.remove(q.issued, oldest)
    end
  end
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

-- Whether this labeler may get the query: it has not answered, holds or passed it on to others. An
-- adjudicator that answered before may get it once more, to decide.
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
  if q.conflict then
    return is_adjudicator(s, labeler)
  end
  return not vote_of(load_votes(s, q.row), labeler)
end
