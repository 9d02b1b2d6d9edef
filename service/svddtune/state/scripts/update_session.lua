-- Changes what may change of a session. A new budget moves the session on where it spends or frees it;
-- with new trusts the labels say something else, so all rankings are stale.
-- @session
-- @etag
-- @by_request
-- @durable
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg display_name text?
-- @arg labels text?: a JSON object
-- @arg budget integer?
-- @arg priority integer?: higher is earlier
-- @arg trusts text?: a JSON object; in place of all that there were
-- @arg retention_ms integer?: for how long it is kept after its end; 0 for good, -1 as the service is set
-- @reply state text
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal BUDGET_TOO_SMALL labels, field
-- @refusal BUDGET_TOO_LARGE n, field
if (args.budget or args.trusts) and (s.state == 'ESTIMATING' or s.state == 'CANCELLED') then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
if args.budget then
  if args.budget > tonumber(s.n) then
    return refuse('BUDGET_TOO_LARGE', { n = tonumber(s.n), field = 'session.config.budget' })
  end
  if args.budget < total(s) then
    return refuse('BUDGET_TOO_SMALL', { labels = total(s), field = 'session.config.budget' })
  end
end

if args.display_name then
  set(s, 'display_name', args.display_name)
end
if args.labels then
  set(s, 'labels', args.labels)
end
if args.priority then
  set(s, 'priority', int(args.priority))
  if s.state == 'LABELING' then
    redis.call('HSET', P .. 'labeling', s.id, serve_order(s))
  end
end
if args.retention_ms then
  if args.retention_ms < 0 then
    redis.call('HDEL', s.key, 'retention_ms')
    s.retention_ms = nil
  else
    set(s, 'retention_ms', int(args.retention_ms))
  end
  if s.ended_ms then
    index_end(s)
  end
end
if args.trusts then
  set(s, 'trusts', args.trusts)
  add(s, 'rev', 1)
end
if args.budget then
  set(s, 'budget', int(args.budget))
end
if args.budget or args.trusts then
  go_on(s)
end
touch(s)
return { state = s.state }
