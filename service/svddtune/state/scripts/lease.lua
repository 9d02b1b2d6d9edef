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

local handed_out = hand_out_queries(s, held, holder, labeler, most, entropy)
if s.state == 'LABELING' then
  advance(s)
end
if changed or handed_out then
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
