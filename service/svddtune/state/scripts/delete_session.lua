-- Deletes a session with all its keys. Jobs of it that still run find nothing to change.
-- @session
-- @keys session, dataset, index, queue, notices, labeling
-- @reply deleted flag
for revision = 1, tonumber(s.revision) do
  redis.call('UNLINK', part(s, 'result:' .. revision), part(s, 'model:' .. revision))
end
for _, name in ipairs({ 'events', 'labels', 'dropped', 'answers', 'queries', 'asked', 'open',
  'leases', 'ranked', 'waiting', 'waiters', 'held', 'votes', 'awaiting', 'labelers', 'withdrawn',
  'fits', 'history', 'corrections', 'ranked_explanations', 'explanations' }) do
  redis.call('UNLINK', part(s, name))
end
leave_atlas(s)
redis.call('UNLINK', s.key, later_jobs(HI, s.id), later_jobs(BULK, s.id))
redis.call('ZREM', P .. 'sessions', s.id)
redis.call('SREM', dataset_key(s.dataset) .. ':sessions', s.id)
redis.call('SREM', dataset_key(s.dataset) .. ':waiting:' .. s.prep, s.id)
redis.call('HDEL', P .. 'labeling', s.id)
redis.call('XADD', NOTICES, 'MAXLEN', '~', '10000', '*', 'session', s.id, 'version', s.version,
  'state', 'DELETED', 'moved', '1', 'priority', s.priority, 'created_ms', s.created_ms,
  'holders', '', 'expires_in_ms', '')
return { deleted = true }
