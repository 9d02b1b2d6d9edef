-- A ranking is made: it is taken where it was made for the labels there are, else made anew. Where
-- several labelers are at work it is taken after one that was not, so that none waits for ever.
-- ARGV: prefix, stream, entry, consumer, deliveries, session id, rev it was made for, moment (last
--   event of the log then), queries then, gamma, alignment, ranking as JSON [[row,
--   predicted], ...], best C so far or 0, live evidence (bytes) or "", 1 where the session is to finish
--   now, and for each ranked row its Explanation (bytes).
-- Labelers that wait get their queries at once.
-- Reply: {"committed": true where it was taken}. Refusals: CLAIM_LOST.
local _, stream, entry, consumer, deliveries, sid, rev, moment, queries, gamma, alignment, ranking,
  c, live, finish = unpack(ARGV)
local FIRST_EXPLANATION = 16
if claim_is_lost(stream, entry, consumer, deliveries) then
  return refuse('CLAIM_LOST')
end
finish_job(stream, entry)
local s = load_session(sid)
if not s then
  return cjson.encode({ committed = false, gone = true })
end
set(s, 'suggesting', '0')
local current = (s.rev == rev or (s.outrun == '1' and several_at_work(s)))
  and (s.state == 'LABELING' or s.state == 'PAUSED')
set(s, 'outrun', current and '0' or '1')
if current then
  set(s, 'gamma', gamma, 'alignment', alignment, 'ranked_rev', s.rev, 'ranked_moment', moment,
    'ranked_queries', queries, 'c', c, 'live', live)
  if live ~= '' then
    redis.call('HSET', part(s, 'history'), rev, live)
  end
  local items = cjson.decode(ranking)
  drop_ranking(s)
  for i, item in ipairs(items) do
    redis.call('RPUSH', part(s, 'ranked'), cjson.encode(item))
    redis.call('HSET', part(s, 'ranked_explanations'), int(item[1]), ARGV[FIRST_EXPLANATION + i - 1])
  end
  if #items == 0 then
    set(s, 'exhausted_rev', rev)
  end
end
if current and finish == '1' and s.state == 'LABELING' then
  begin_estimating(s, 'STOP_RULE')
end
go_on(s)
touch(s)
return cjson.encode({ committed = current })
