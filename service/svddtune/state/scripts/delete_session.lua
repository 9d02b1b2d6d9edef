-- Deletes a session with all its keys. Jobs of it that still run find nothing to change.
-- ARGV: prefix, session id.
-- Reply: {"deleted": true}. Refusals: SESSION_NOT_FOUND.
local sid = ARGV[2]
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
for revision = 1, tonumber(s.revision) do
  redis.call('UNLINK', part(s, 'result:' .. revision), part(s, 'model:' .. revision))
end
for _, name in ipairs({ 'events', 'labels', 'dropped', 'answers', 'queries', 'asked', 'open',
  'leases', 'ranked', 'waiting', 'waiters', 'held', 'votes', 'awaiting', 'labelers', 'withdrawn',
  'fits', 'history', 'corrections', 'ranked_explanations', 'explanations' }) do
  redis.call('UNLINK', part(s, name))
end
leave_atlas(s)
redis.call('UNLINK', s.key, later_jobs(sid))
redis.call('ZREM', P .. 'sessions', sid)
redis.call('SREM', P .. 'd:' .. s.dataset .. ':sessions', sid)
redis.call('SREM', P .. 'd:' .. s.dataset .. ':waiting:' .. s.prep, sid)
redis.call('HDEL', P .. 'labeling', sid)
redis.call('XADD', NOTICES, 'MAXLEN', '~', '10000', '*', 'session', sid, 'version', s.version,
  'state', 'DELETED', 'moved', '1', 'priority', s.priority, 'created_ms', s.created_ms,
  'holders', '', 'expires_in_ms', '')
return cjson.encode({ deleted = true })
