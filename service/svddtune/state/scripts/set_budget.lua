-- Changes the budget; the session moves on where that spends or frees it.
-- @session
-- @keys session, dataset, queue, notices, labeling
-- @arg budget integer
-- @reply state text
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal BUDGET_TOO_SMALL labels
-- @refusal BUDGET_TOO_LARGE n
if s.state == 'ESTIMATING' or s.state == 'CANCELLED' then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
if args.budget > tonumber(s.n) then
  return refuse('BUDGET_TOO_LARGE', { n = tonumber(s.n) })
end
if args.budget < total(s) then
  return refuse('BUDGET_TOO_SMALL', { labels = total(s) })
end
set(s, 'budget', int(args.budget))
go_on(s)
touch(s)
return { state = s.state }
