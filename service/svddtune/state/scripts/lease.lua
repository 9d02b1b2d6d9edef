-- Hands out queries until a labeler holds as many as it wants, or there are no more.
-- ARGV: prefix, session id, holder, labeler, most queries to hold, fresh random hex for lease ids.
-- Reply: {"state", "finish_reason", "leases": [...], "now_ms", "next_expiry_ms", "lease_ms"};
--   leases are all that the holder has, older ones first.
-- Refusals: SESSION_NOT_FOUND.
local _, sid, holder, labeler, most, entropy = unpack(ARGV)
most = tonumber(most)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local changed = expire_leases(s)

local held, next_expiry = {}, 0
local leased = redis.call('ZRANGE', part(s, 'leases'), 0, -1, 'WITHSCORES')
for i = 1, #leased, 2 do
  local q = get_query(s, leased[i])
  if q.holder == holder then
    held[#held + 1] = q
  elseif next_expiry == 0 then
    next_expiry = tonumber(leased[i + 1])
  end
end
table.sort(held, function(a, b) return a.n < b.n end)

local function hand_out(q)
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
  held[#held + 1] = q
  changed = true
end

local function excluded(q)
  for _, name in ipairs(q.exclude) do
    if name == labeler then
      return true
    end
  end
  return false
end

-- A query that came back, the first in the queue that this labeler may get.
local function waiting_query(also_later)
  for _, n in ipairs(redis.call('LRANGE', part(s, 'open'), 0, -1)) do
    local q = get_query(s, n)
    if (also_later or not q.later) and not excluded(q) then
      return q
    end
  end
end

-- A new query for the best row of the fresh ranking.
local function new_query()
  if total(s) + outstanding(s) >= tonumber(s.budget) or not ranking_is_fresh(s) then
    return
  end
  while true do
    local item = redis.call('LPOP', part(s, 'ranked'))
    if not item then
      return
    end
    local row, score = unpack(cjson.decode(item))
    if redis.call('HEXISTS', part(s, 'asked'), int(row)) == 0
      and redis.call('SISMEMBER', part(s, 'dropped'), int(row)) == 0
      and redis.call('HEXISTS', part(s, 'labels'), int(row)) == 0 then
      add(s, 'queries', 1)
      local q = { n = tonumber(s.queries), row = row, score = score, rule = s.rule,
        issued = {}, exclude = {} }
      redis.call('HSET', part(s, 'asked'), int(row), int(q.n))
      redis.call('XADD', part(s, 'events'), '*', 'kind', 'ASKED', 'row', int(row),
        'query', int(q.n), 'rev', s.rev)
      return q
    end
  end
end

while s.state == 'LABELING' and #held < most do
  local q = waiting_query(false) or new_query()
  if not q and (total(s) + outstanding(s) >= tonumber(s.budget) or pool_is_exhausted(s)) then
    q = waiting_query(true)
  end
  if not q then
    break
  end
  hand_out(q)
end
if s.state == 'LABELING' then
  advance(s)
end
if changed then
  touch(s)
end

local leases = {}
for i, q in ipairs(held) do
  leases[i] = { query = q.n, row = q.row, lease = q.lease, expires = q.expires, score = q.score,
    rule = q.rule }
end
return cjson.encode({ state = s.state, finish_reason = s.finish_reason,
  leases = leases, now_ms = NOW,
  next_expiry_ms = next_expiry, lease_ms = tonumber(s.lease_ms) })
