-- A ranking is made: it is taken where it was made for the labels there are, else made anew.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, rev it was made for, gamma,
--   alignment, rule, ranking as JSON [[row, score], ...].
-- Reply: {"committed": true where it was taken}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, rev, gamma, alignment, rule, ranking =
  unpack(ARGV)
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
  set(s, 'gamma', gamma, 'alignment', alignment, 'rule', rule, 'ranked_rev', rev)
  redis.call('DEL', part(s, 'ranked'))
  local items = cjson.decode(ranking)
  for _, item in ipairs(items) do
    redis.call('RPUSH', part(s, 'ranked'), cjson.encode(item))
  end
  if #items == 0 then
    set(s, 'exhausted_rev', rev)
  end
end
advance(s)
touch(s)
return cjson.encode({ committed = current })
