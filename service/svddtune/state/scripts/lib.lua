-- Shared by all scripts: put in front of each when it is loaded.
-- KEYS[1] names any key of the partition, for routing; ARGV[1] is the partition's prefix.
-- Replies are JSON: {"error": REASON, ...} for a refusal, else what the script's contract says.

local P = ARGV[1]
local HI, BULK, DEAD, NOTICES = P .. 'q:hi', P .. 'q:bulk', P .. 'q:dead', P .. 'notices'
local GROUP = 'workers'

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local NOW = now_ms()

local function refuse(reason, values)
  local reply = values or {}
  reply.error = reason
  return cjson.encode(reply)
end

-- An integer as Redis stores it (Lua would write 1e+15 for large ones).
local function int(value)
  return string.format('%.0f', tonumber(value))
end

-- The session's hash as a table, or nil. Fields keep their names; numbers are strings.
local function load_session(sid)
  local flat = redis.call('HGETALL', P .. 's:' .. sid)
  if #flat == 0 then
    return nil
  end
  local s = { key = P .. 's:' .. sid }
  for i = 1, #flat, 2 do
    s[flat[i]] = flat[i + 1]
  end
  return s
end

local function part(s, name)
  return s.key .. ':' .. name
end

local function set(s, ...)
  local args = { ... }
  for i = 1, #args, 2 do
    s[args[i]] = tostring(args[i + 1])
  end
  redis.call('HSET', s.key, ...)
end

local function add(s, field, by)
  s[field] = int(redis.call('HINCRBY', s.key, field, by))
end

local function total(s)
  return tonumber(s.inlier) + tonumber(s.outlier)
end

local function outstanding(s)
  return redis.call('HLEN', part(s, 'asked'))
end

local function counts(s)
  return { inlier = tonumber(s.inlier), outlier = tonumber(s.outlier), unsure = tonumber(s.unsure) }
end

-- The session has changed: whoever watches it is told.
local function touch(s)
  add(s, 'version', 1)
  set(s, 'updated_ms', int(NOW))
  redis.call('XADD', NOTICES, 'MAXLEN', '~', '10000', '*', 'session', s.id)
end

local function enqueue(stream, kind, s, payload)
  redis.call('XADD', stream, '*', 'kind', kind, 'session', s.id, 'dataset', s.dataset,
    'payload', payload)
end

local function get_query(s, n)
  local text = redis.call('HGET', part(s, 'queries'), n)
  return text and cjson.decode(text)
end

local function put_query(s, q)
  redis.call('HSET', part(s, 'queries'), int(q.n), cjson.encode(q))
end

-- The query is out with nobody and waits for nobody.
local function close_query(s, q, state)
  q.state = state
  q.lease, q.holder = '', ''
  redis.call('ZREM', part(s, 'leases'), int(q.n))
  redis.call('LREM', part(s, 'open'), 0, int(q.n))
  redis.call('HDEL', part(s, 'asked'), int(q.row))
  put_query(s, q)
end

-- The query goes back to the queue: to the front, or behind new queries where `later`.
local function reopen_query(s, q, later)
  q.state = 'open'
  q.lease, q.holder = '', ''
  q.later = later
  redis.call('ZREM', part(s, 'leases'), int(q.n))
  redis.call('HSET', part(s, 'asked'), int(q.row), int(q.n))
  redis.call(later and 'RPUSH' or 'LPUSH', part(s, 'open'), int(q.n))
  put_query(s, q)
end

-- Nothing is out with anybody any more, and nothing waits to be asked or fitted.
local function drop_queries(s)
  for _, n in ipairs(redis.call('HVALS', part(s, 'asked'))) do
    close_query(s, get_query(s, n), 'closed')
  end
  redis.call('DEL', part(s, 'ranked'), part(s, 'waiting'), part(s, 'fits'))
end

local function expire_leases(s)
  local due = redis.call('ZRANGEBYSCORE', part(s, 'leases'), '-inf', int(NOW))
  for i = #due, 1, -1 do
    reopen_query(s, get_query(s, due[i]), false)
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

-- A query becomes the holder's.
local function lease_query(s, q, holder, labeler, entropy)
  q.state = 'leased'
  q.holder, q.labeler = holder, labeler
  q.lease = entropy .. '-' .. int(q.n)
  q.expires = NOW + tonumber(s.lease_ms)
  -- An answer that comes after the lease has ended is recognised by these.
  q.issued[#q.issued + 1] = q.lease
  q.later = false
  redis.call('LREM', part(s, 'open'), 0, int(q.n))
  redis.call('ZADD', part(s, 'leases'), int(q.expires), int(q.n))
  put_query(s, q)
end

-- A query that came back, the first in the queue that this labeler may get.
local function waiting_query(s, labeler, also_later)
  for _, n in ipairs(redis.call('LRANGE', part(s, 'open'), 0, -1)) do
    local q = get_query(s, n)
    local excluded = false
    for _, name in ipairs(q.exclude) do
      excluded = excluded or name == labeler
    end
    if (also_later or not q.later) and not excluded then
      return q
    end
  end
end

-- A new query for the best row of the fresh ranking.
local function new_query(s)
  if total(s) + outstanding(s) >= tonumber(s.budget) or not ranking_is_fresh(s) then
    return
  end
  while true do
    local item = redis.call('LPOP', part(s, 'ranked'))
    if not item then
      return
    end
    local row, score, rule = unpack(cjson.decode(item))
    if redis.call('HEXISTS', part(s, 'asked'), int(row)) == 0
      and redis.call('SISMEMBER', part(s, 'dropped'), int(row)) == 0
      and redis.call('HEXISTS', part(s, 'labels'), int(row)) == 0 then
      add(s, 'queries', 1)
      local q = { n = tonumber(s.queries), row = row, score = score, rule = rule,
        issued = {}, exclude = {} }
      redis.call('HSET', part(s, 'asked'), int(row), int(q.n))
      redis.call('XADD', part(s, 'events'), '*', 'kind', 'ASKED', 'row', int(row),
        'query', int(q.n), 'rev', s.rev)
      return q
    end
  end
end

-- Hands out queries until the holder's `held` are `most`; true where it got any.
local function hand_out_queries(s, held, holder, labeler, most, entropy)
  local before = #held
  while s.state == 'LABELING' and #held < most do
    local q = waiting_query(s, labeler, false) or new_query(s)
    if not q and (total(s) + outstanding(s) >= tonumber(s.budget) or pool_is_exhausted(s)) then
      q = waiting_query(s, labeler, true)
    end
    if not q then
      break
    end
    lease_query(s, q, holder, labeler, entropy)
    held[#held + 1] = q
  end
  return #held > before
end

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

-- Stops asking and lets the result be computed from the labels there are.
local function begin_estimating(s, reason)
  drop_queries(s)
  if s.needs_atlas ~= '1' then
    leave_atlas(s)
  end
  set(s, 'state', 'ESTIMATING', 'finish_reason', reason, 'estimating_ms', int(NOW))
  add(s, 'attempt', 1)
  enqueue(HI, 'PLAN', s, s.job_plan)
end

-- What follows from a change of labels, queries or state: the end, or a new ranking. At most one
-- SUGGEST of a session is queued or running; it reads the labels when it starts.
local function advance(s)
  if s.state ~= 'LABELING' and s.state ~= 'PAUSED' then
    return
  end
  if total(s) >= tonumber(s.budget) then
    begin_estimating(s, 'BUDGET_SPENT')
  elseif s.state == 'PAUSED' then
    return
  elseif pool_is_exhausted(s) then
    if outstanding(s) == 0 then
      begin_estimating(s, 'POOL_EXHAUSTED')
    end
  elseif s.suggesting ~= '1' and total(s) + outstanding(s) < tonumber(s.budget)
    and (not ranking_is_fresh(s) or redis.call('LLEN', part(s, 'ranked')) == 0) then
    set(s, 'suggesting', '1')
    enqueue(HI, 'SUGGEST', s, s.job_suggest)
  end
end

-- Appends to the label log and makes all rankings stale.
local function log_label(s, kind, row, verdict, labeler, n, source, answer_id)
  if kind ~= 'UNUSED' then
    add(s, 'rev', 1)
  end
  return redis.call('XADD', part(s, 'events'), '*', 'kind', kind, 'row', int(row),
    'verdict', verdict, 'labeler', labeler, 'query', int(n), 'source', source,
    'answer_id', answer_id)
end

-- What an answer or retraction with this id gave before: its receipt, or a refusal where the id was
-- used for something else; nil for a new id.
local function seen_before(s, answer_id, fingerprint)
  local prior = redis.call('HGET', part(s, 'answers'), answer_id)
  if not prior then
    return nil
  end
  local known = cjson.decode(prior)
  return known.fingerprint == fingerprint and known.receipt or refuse('ANSWER_ID_REUSED')
end

-- Remembers the receipt of an answer or retraction, and returns it.
local function give_receipt(s, answer_id, fingerprint, applied, n, event)
  local receipt = cjson.encode({ applied = applied, query = tonumber(n), counts = counts(s),
    event = event })
  redis.call('HSET', part(s, 'answers'), answer_id,
    cjson.encode({ fingerprint = fingerprint, receipt = receipt }))
  touch(s)
  return receipt
end

local VERDICT_FIELD = { ['1'] = 'inlier', ['-1'] = 'outlier', ['0'] = 'unsure' }

-- The verdict becomes the row's label (or drops the row, where it is UNSURE).
local function apply_label(s, row, verdict, n)
  if redis.call('SREM', part(s, 'dropped'), int(row)) == 1
    and redis.call('HDEL', part(s, 'labels'), int(row)) == 1 then
    add(s, 'unsure', -1)
  end
  redis.call('HSET', part(s, 'labels'), int(row), verdict .. ' ' .. int(n))
  if verdict == '0' then
    redis.call('SADD', part(s, 'dropped'), int(row))
  end
  add(s, VERDICT_FIELD[verdict], 1)
end

-- PREPARING is over once all that the session needs is there.
local function begin_when_ready(s)
  local d = dataset_key(s.dataset)
  if s.state == 'PREPARING' and redis.call('HGET', d, 'prep:' .. s.k) == 'ready'
    and (s.needs_atlas ~= '1' or redis.call('HGET', d, 'atlas') == 'ready') then
    set(s, 'state', 'LABELING')
    advance(s)
  end
end

-- A session begins, or begins again: what it needs of its dataset is made where it is missing.
local function prepare_session(s)
  local d = dataset_key(s.dataset)
  local prepared = redis.call('HGET', d, 'prep:' .. s.k)
  if prepared ~= 'ready' then
    redis.call('SADD', d .. ':waiting:' .. s.k, s.id)
    if prepared ~= 'queued' then
      redis.call('HSET', d, 'prep:' .. s.k, 'queued')
      -- The job is the dataset's: it names no session.
      redis.call('XADD', HI, '*', 'kind', 'PREPARE', 'session', '', 'dataset', s.dataset,
        'payload', s.job_prepare)
    end
  end
  want_atlas(s)
  begin_when_ready(s)
end

-- The entry is not this consumer's delivery any more: another worker has it, or it is done.
local function claim_is_lost(stream, entry, consumer, deliveries)
  local pending = redis.call('XPENDING', stream, GROUP, entry, entry, 1)
  return #pending == 0 or pending[1][2] ~= consumer or pending[1][4] ~= tonumber(deliveries)
end

local function finish_job(stream, entry)
  redis.call('XACK', stream, GROUP, entry)
  redis.call('XDEL', stream, entry)
end

local function fail_session(s, reason, message)
  drop_queries(s)
  leave_atlas(s)
  set(s, 'state', 'FAILED', 'finish_reason', 'FAILED', 'failure_reason', reason,
    'failure_message', message, 'suggesting', '0')
  touch(s)
end
