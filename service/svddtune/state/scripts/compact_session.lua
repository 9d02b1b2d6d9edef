-- Compacts a session that ended before its version did so at the end: what only a running one needs goes, and
-- its time to live begins with its last change. One that is compacted, or has not ended, stays as it is.
-- @repeatable
-- @keys session, retention
-- @arg session text
local s = load_session(args.session)
if s and has_ended(s) and not s.ended_ms then
  compact_session(s, s.updated_ms)
end
