-- The detectors are compared: the session says which one is better. The map shows the best cell.
-- @claim ends
-- @keys session, dataset, queue, notices
-- @arg total integer: number of labels that they were compared on
-- @arg detectors bytes: a DetectorComparison message; empty where they cannot be compared
-- @arg pictures map: margins, a Margins message, and places with them; empty where there are none
-- @arg portrait integer: number of chunks of the dataset's portrait; 0 where it is not stored now
-- @reply committed flag: the session is still there
keep_portrait(job.dataset, args.portrait)
local s = load_session(job.session)
if not s then
  return { committed = false }
end
set(s, 'refining', '0', 'detectors', args.detectors, 'detectors_total', int(args.total))
keep_pictures(s, args.pictures)
touch(s)
return { committed = true }
