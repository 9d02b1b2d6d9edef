-- Changes what may change of a session. A new budget moves the session on where it spends or frees it.
-- @session
-- @etag
-- @by_request
-- @durable
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg display_name text?
-- @arg labels text?: a JSON object
-- @arg budget integer?
-- @arg priority integer?: higher is earlier
-- @arg retention_ms integer?: for how long it is kept after its end; 0 for good, -1 as the service is set
-- @reply state text
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal BUDGET_TOO_SMALL labels, field
-- @refusal BUDGET_TOO_LARGE n, field
if args.budget then
  if s.state == 'ESTIMATING' or s.state == 'CANCELLED' then
    return refuse('SESSION_NOT_ACTIVE', { state = s.state })
  end
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
if args.budget then
  set(s, 'budget', int(args.budget))
  go_on(s)
end
touch(s)
return { state = s.state }
