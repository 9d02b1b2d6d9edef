-- The detectors are compared: the session says which one is better.
-- @claim ends
-- @keys session, queue, notices
-- @arg total integer: number of labels that they were compared on
-- @arg detectors bytes: a DetectorComparison message; empty where they cannot be compared
-- @reply committed flag: the session is still there
local s = load_session(job.session)
if not s then
  return { committed = false }
end
set(s, 'refining', '0', 'detectors', args.detectors, 'detectors_total', int(args.total))
touch(s)
return { committed = true }
