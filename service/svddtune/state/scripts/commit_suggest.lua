-- A ranking is made: it is taken where it was made for the labels there are, else made anew.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, rev it was made for, gamma,
--   alignment, ranking as JSON [[row, score, rule], ...], fresh random hex for lease ids, best C so
--   far or 0, live evidence (bytes) or "", 1 where the session is to finish now.
-- Labelers whose answers led to it get their next queries at once.
-- Reply: {"committed": true where it was taken}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, rev, gamma, alignment, ranking,
  entropy, c, live, finish = unpack(ARGV)
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local s = load_session(sid)
if not s then
  return cjson.encode({ committed = false, gone = true })
end
set(s, 'suggesting', '0')
local current = s.rev == rev and (s.state == 'LABELING' or s.state == 'PAUSED')
if current then
  set(s, 'gamma', gamma, 'alignment', alignment, 'ranked_rev', rev,
    'c', c, 'live', live)
  if live ~= '' then
    redis.call('HSET', part(s, 'history'), rev, live)
  end
  redis.call('DEL', part(s, 'ranked'))
  local items = cjson.decode(ranking)
  for _, item in ipairs(items) do
    redis.call('RPUSH', part(s, 'ranked'), cjson.encode(item))
  end
  if #items == 0 then
    set(s, 'exhausted_rev', rev)
  end
end
if current and finish == '1' and s.state == 'LABELING' then
  begin_estimating(s, 'STOP_RULE')
end
if current and s.state == 'LABELING' then
  local held = {}
  for _, n in ipairs(redis.call('ZRANGE', part(s, 'leases'), 0, -1)) do
    local q = get_query(s, n)
    held[q.holder] = held[q.holder] or {}
    table.insert(held[q.holder], q)
  end
  for _, item in ipairs(redis.call('LRANGE', part(s, 'waiting'), 0, -1)) do
    local waiting = cjson.decode(item)
    held[waiting.holder] = held[waiting.holder] or {}
    hand_out_queries(s, held[waiting.holder], waiting.holder, waiting.labeler, waiting.most,
      entropy)
  end
  redis.call('DEL', part(s, 'waiting'))
end
advance(s)
touch(s)
return cjson.encode({ committed = current })
