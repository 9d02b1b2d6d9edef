-- The result is computed: the session is complete.
-- @claim ends
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg attempt integer: the attempt at a result that it belongs to
-- @arg gamma number
-- @arg scaling integer: the ScalingKind that gamma belongs to
-- @arg alignment number
-- @arg result bytes: a Result message
-- @arg model list: the pieces of the model, ExportModelResponse messages
-- @arg point bytes: a HistoryPoint message
-- @arg pictures map: those of cells, places and margins that are known, as messages
-- @arg portrait integer: number of chunks of the dataset's portrait; 0 where it is not stored now
-- @reply committed flag, revision integer?: number of the result, where the session still wanted it
keep_portrait(job.dataset, args.portrait)
local s = load_session(job.session)
if not awaits_result(s, args.attempt) then
  return { committed = false }
end
add(s, 'revision', 1)
redis.call('SET', part(s, 'result:' .. s.revision), args.result)
for _, piece in ipairs(args.model) do
  redis.call('RPUSH', part(s, 'model:' .. s.revision), piece)
end
remember_moment(s, s.rev, args.point)
keep_pictures(s, args.pictures)
leave_atlas(s)
set(s, 'state', 'COMPLETED', 'gamma', args.gamma, 'scaling', int(args.scaling),
  'alignment', args.alignment)
compact_session(s, NOW)
touch(s)
return { committed = true, revision = tonumber(s.revision) }
