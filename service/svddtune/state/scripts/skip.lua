-- A labeler passes on a query: LATER (again, behind new ones), OTHERS (never again this labeler)
-- or DROP (ask nobody).
-- ARGV: prefix, session id, labeler, query, lease id, mode, holder, who waits for the next query as
--   JSON, or "".
-- Reply: {"applied": true, "query", "counts"}; the same where the labeler repeats the skip of a lease.
-- Refusals: SESSION_NOT_FOUND, UNKNOWN_QUERY, LEASE_LOST.
local _, sid, labeler, n, lease_id, mode, holder, waiter = unpack(ARGV)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local expired = expire_leases(s)
local q = get_query(s, n)
local issued = q and issued_to(q, lease_id, labeler)
if not issued or not q.leases[lease_id] then
  if expired then
    go_on(s)
    touch(s)
  end
  if issued and issued[3] == mode then
    return cjson.encode({ applied = true, query = q.n, counts = counts(s) })
  end
  return refuse(q and 'LEASE_LOST' or 'UNKNOWN_QUERY', { query = tonumber(n) })
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
wait_on(s, holder, waiter)
go_on(s)
touch(s)
return cjson.encode({ applied = true, query = q.n, counts = counts(s) })
