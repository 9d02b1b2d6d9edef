-- Shared by all scripts: the files of lib/ are put in front of each when it is loaded.
-- KEYS[1] is where the reply of this call may be kept (calls.lua); it is in the partition that the call
-- is about, whose prefix it gives. ARGV[1] has the arguments by name.

local P = string.match(KEYS[1], '^(.-)call:')
local args = cmsgpack.unpack(ARGV[1])
local HI, BULK, DEAD, NOTICES = P .. 'q:hi', P .. 'q:bulk', P .. 'q:dead', P .. 'notices'
local GROUP = 'workers'

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local NOW = now_ms()

-- The reply of a call that is refused: a reason, and values that its sentence names.
local function refuse(reason, values)
  local reply = values or {}
  reply.error = reason
  return reply
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
  local s = { key = P .. 's:' .. sid, told = {} }
  for i = 1, #flat, 2 do
    s[flat[i]] = flat[i + 1]
  end
  s.state_before = s.state
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

-- Observations that are asked about and have no label yet.
local function outstanding(s)
  return redis.call('HLEN', part(s, 'asked')) - redis.call('SCARD', part(s, 'awaiting'))
end

local function counts(s)
  return { inlier = tonumber(s.inlier), outlier = tonumber(s.outlier), unsure = tonumber(s.unsure) }
end

-- What is leased to this holder has changed: its stream is to look.
local function tell(s, holder)
  s.told[holder] = true
end

-- Rankings wait for the rest of the answers of a batch, until this time at most. (A time that is further
-- away than any can be is from before the server's clock went back.)
local HELD_AT_MOST_MS = 60000
local function is_held(s)
  local left = tonumber(s.held_until or 0) - NOW
  return left > 0 and left <= HELD_AT_MOST_MS
end

-- In how many ms a lease runs out, or rankings wait no more: then `expire` is to be called. Nil for never.
local function due_in_ms(s)
  local first = redis.call('ZRANGE', part(s, 'leases'), 0, 0, 'WITHSCORES')
  local due = first[2] and tonumber(first[2])
  if s.held_until and s.held_until ~= '0' then
    due = math.min(due or math.huge, tonumber(s.held_until))
  end
  return due and int(math.max(0, due - NOW))
end

-- When the session is due; nil for never.
local function due_ms(s)
  return s.due_after_ms and int(s.created_ms + s.due_after_ms)
end

-- What orders the sessions that ask now, and their project where that is not the default one. (It is named
-- before a due time, which services of earlier versions pass over.)
local function serve_order(s)
  local due = due_ms(s)
  local project = s.project or due and 'default'
  return s.priority .. ' ' .. s.created_ms .. (project and ' ' .. project or '')
    .. (due and ' ' .. due or '')
end

-- Name of the index of the sessions or datasets of a project alone; nil for the default project.
local function own_index(index, project)
  return project and P .. index .. ':' .. project
end

-- Tells whoever watches the session, and those of its holders whom it concerns.
local function announce(s)
  local moved = s.state ~= s.state_before
  if moved and s.state == 'LABELING' then
    redis.call('HSET', P .. 'labeling', s.id, serve_order(s))
  elseif moved and s.state_before == 'LABELING' then
    redis.call('HDEL', P .. 'labeling', s.id)
  end
  s.state_before = s.state
  local holders = {}
  for holder in pairs(s.told) do
    holders[#holders + 1] = holder
  end
  s.told = {}
  redis.call('XADD', NOTICES, 'MAXLEN', '~', '10000', '*', 'session', s.id, 'version', s.version,
    'state', s.state, 'moved', moved and '1' or '0', 'priority', s.priority,
    'created_ms', s.created_ms, 'due_ms', due_ms(s) or '', 'project', s.project or '',
    'holders', table.concat(holders, ' '), 'expires_in_ms', due_in_ms(s) or '')
end

-- The session has changed.
local function touch(s)
  add(s, 'version', 1)
  set(s, 'updated_ms', int(NOW))
  announce(s)
end

local function takes_labels(s)
  return s.state == 'LABELING' or s.state == 'PAUSED' or s.state == 'PREPARING'
end

-- Whether the session is there and still waits for this attempt at a result.
local function awaits_result(s, attempt)
  return s and s.state == 'ESTIMATING' and tonumber(s.attempt) == attempt
end

-- What an answer or retraction of the labeler with this id gave before: its receipt, or a refusal where
-- the labeler used the id for something else; nil for a new id.
local function seen_before(s, labeler, answer_id, fingerprint)
  local key = part(s, 'answers')
  local own = redis.call('HGET', key, labeler .. '/' .. answer_id)
  -- (0.1.0 stored the id alone. What differs there may be another labeler's.)
  local prior = own or redis.call('HGET', key, answer_id)
  local known = prior and cjson.decode(prior)
  if known and known.fingerprint == fingerprint then
    return cjson.decode(known.receipt)
  end
  return own and refuse('ANSWER_ID_REUSED') or nil
end

-- Remembers the receipt of an answer or retraction, and returns it.
local function give_receipt(s, labeler, answer_id, fingerprint, applied, n, event)
  local receipt = { applied = applied, query = n, counts = counts(s), event = event }
  redis.call('HSET', part(s, 'answers'), labeler .. '/' .. answer_id,
    cjson.encode({ fingerprint = fingerprint, receipt = cjson.encode(receipt) }))
  return receipt
end

-- Appends to the label log: row, verdict, labeler, and where there is one the query, source, answer id,
-- ms (from lease to answer) and provenance (the rule behind the verdict; stored as `basis`, as 0.1.0 wrote
-- it, since the log is never rewritten), confidence (of the labeler in its verdict, as text), origin
-- (id of the session that the vote was taken over from), decides (it is an adjudicator's, and decides) and
-- control (the row is a control item; services of earlier versions take such an entry for a repeat).
-- What changes votes makes all rankings stale.
local function log_label(s, kind, entry)
  if kind ~= 'UNUSED' and kind ~= 'REPEATED' then
    add(s, 'rev', 1)
  end
  return redis.call('XADD', part(s, 'events'), '*', 'kind', kind, 'row', int(entry.row),
    'verdict', entry.verdict, 'labeler', entry.labeler, 'query', int(entry.query or 0),
    'source', entry.source or '', 'answer_id', entry.answer_id or '', 'ms', int(entry.ms or 0),
    'basis', entry.provenance or '', 'confidence', entry.confidence or '', 'origin', entry.origin or '',
    unpack(entry.decides and { 'decides', '1' } or entry.control and { 'control', '1' } or {}))
end

-- Whether what was written for a restore is all there still.
local function has_staged(parts)
  for _, staged in pairs(parts) do
    if redis.call('EXISTS', staged) == 0 then
      return false
    end
  end
  return true
end

-- Gives what was written for a restore its names below a key; false where some of it has expired.
local function take_staged(key, parts)
  if not has_staged(parts) then
    return false
  end
  for name, staged in pairs(parts) do
    redis.call('RENAME', staged, key .. ':' .. name)
    redis.call('PERSIST', key .. ':' .. name)
  end
  return true
end
