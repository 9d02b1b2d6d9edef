-- A ranking is made: it is taken where it was made for the labels there are, else made anew. Where
-- several labelers are at work it is taken after one that was not, so that none waits for ever.
-- Labelers that wait get their queries at once.
-- @claim ends
-- @keys session, dataset, queue, notices, labeling
-- @arg rev integer: rev of the labels that it was made for
-- @arg moment text: last event of the log then
-- @arg queries integer: number of queries then
-- @arg gamma number
-- @arg scaling integer: the ScalingKind that gamma belongs to
-- @arg alignment number
-- @arg ranking list: of {row, predicted, explanation}, best first; the last is an Explanation message
-- @arg controls list: of {row, explanation}: control items that labelers may get next
-- @arg c number: the best C so far; 0 where there is none
-- @arg live bytes: a LiveEvidence message; empty where there is none
-- @arg point bytes: what a HistoryPoint message has beside the evidence
-- @arg pictures map: those of cells and places that are made anew, as messages
-- @arg pictured integer: number of labels that they are made for
-- @arg finish flag: the session is to finish now
-- @arg trace text?: traceparent of the span that its queries follow from
-- @reply committed flag: it was taken
local s = load_session(job.session)
if not s then
  return { committed = false }
end
set(s, 'suggesting', '0')
local current = (tonumber(s.rev) == args.rev or (s.outrun == '1' and several_at_work(s)))
  and (s.state == 'LABELING' or s.state == 'PAUSED')
set(s, 'outrun', current and '0' or '1')
if current then
  set(s, 'gamma', args.gamma, 'scaling', int(args.scaling), 'alignment', args.alignment, 'ranked_rev', s.rev,
    'ranked_moment', args.moment, 'ranked_queries', int(args.queries), 'c', args.c, 'live', args.live)
  if args.trace or (s.ranked_trace or '') ~= '' then
    set(s, 'ranked_trace', args.trace or '')
  end
  if args.live ~= '' then
    redis.call('HSET', part(s, 'history'), int(args.rev), args.live)
  end
  remember_moment(s, args.rev, args.point)
  if next(args.pictures) and keeps_pictures() then
    keep_pictures(s, args.pictures)
    set(s, 'pictured', int(args.pictured))
  end
  drop_ranking(s)
  local items, explanations = {}, {}
  for _, ranked in ipairs(args.ranking) do
    local row, predicted, explanation = unpack(ranked)
    items[#items + 1] = cjson.encode({ row, predicted })
    explanations[#explanations + 1] = int(row)
    explanations[#explanations + 1] = explanation
  end
  for _, control in ipairs(args.controls) do
    explanations[#explanations + 1] = int(control[1])
    explanations[#explanations + 1] = control[2]
  end
  if #explanations > 0 then
    redis.call('HSET', part(s, 'ranked_explanations'), unpack(explanations))
  end
  if #items > 0 then
    redis.call('RPUSH', part(s, 'ranked'), unpack(items))
  else
    set(s, 'exhausted_rev', int(args.rev))
  end
end
if current and args.finish and s.state == 'LABELING' then
  begin_estimating(s, 'STOP_RULE')
end
go_on(s)
compare_detectors(s)
touch(s)
return { committed = current }
