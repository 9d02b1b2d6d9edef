-- A preview is computed: it is kept for whoever asked for it.
-- @claim ends
-- @keys session, queue, notices
-- @arg preview_id text
-- @arg preview bytes: a Preview message
-- @reply committed flag: the session is still there
local s = load_session(job.session)
if not s then
  return { committed = false }
end
redis.call('SET', part(s, 'preview:' .. args.preview_id), args.preview, 'EX', '60')
-- Whoever waits for it looks; the session itself is as it was.
announce(s)
return { committed = true }
