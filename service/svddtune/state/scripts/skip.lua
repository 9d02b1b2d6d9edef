-- A labeler passes on a query. A repeat of the skip of a lease gets the same reply.
-- @session
-- @durable
-- @keys session, dataset, queue, notices, labeling
-- @arg labeler text
-- @arg holder text
-- @arg query integer
-- @arg lease_id text
-- @arg mode text: LATER (again, behind new ones), OTHERS (never again this labeler) or DROP (ask nobody)
-- @arg next_request map?: what the holder asks for next, a LeaseRequest
-- @reply applied flag, query integer, counts map
-- @refusal UNKNOWN_QUERY
-- @refusal LEASE_LOST
local labeler, holder, lease_id, mode = args.labeler, args.holder, args.lease_id, args.mode
local expired = expire_leases(s) > 0
local q = get_query(s, args.query)
local issued = q and issued_to(q, lease_id, labeler)
if not issued or not q.leases[lease_id] then
  if expired then
    go_on(s)
    touch(s)
  end
  if issued and issued[3] == mode then
    return { applied = true, query = q.n, counts = counts(s) }
  end
  return refuse(q and 'LEASE_LOST' or 'UNKNOWN_QUERY')
end
issued[3] = mode
end_lease(s, q, lease_id, holder)
if q.repeats then
  close_query(s, q, 'closed', holder)
elseif mode == 'DROP' then
  redis.call('SADD', part(s, 'dropped'), int(q.row))
  redis.call('XADD', part(s, 'events'), '*', 'kind', 'DROPPED', 'row', int(q.row), 'query', int(q.n))
  close_query(s, q, 'dropped', holder)
  end_repeats(s, q.row)
  -- Votes there are stand, and no more are wanted.
  settle(s, q.row, q.n)
else
  if mode == 'OTHERS' then
    q.exclude[#q.exclude + 1] = labeler
  end
  queue_query(s, q, mode == 'LATER')
end
wait_on(s, args.next_request)
go_on(s)
touch(s)
return { applied = true, query = q.n, counts = counts(s) }
