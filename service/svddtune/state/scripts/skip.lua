-- A labeler passes on a query: LATER (again, behind new ones), OTHERS (never again this labeler)
-- or DROP (ask nobody).
-- ARGV: prefix, session id, labeler, query, lease id, mode.
-- Reply: {"applied": true, "query", "counts"}.
-- Refusals: SESSION_NOT_FOUND, UNKNOWN_QUERY, LEASE_LOST.
local _, sid, labeler, n, lease, mode = unpack(ARGV)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
expire_leases(s)
local q = get_query(s, n)
if not q then
  return refuse('UNKNOWN_QUERY', { query = tonumber(n) })
end
if q.state ~= 'leased' or q.lease ~= lease then
  return refuse('LEASE_LOST', { query = tonumber(n) })
end
if mode == 'DROP' then
  redis.call('SADD', part(s, 'dropped'), int(q.row))
  close_query(s, q, 'dropped')
else
  if mode == 'OTHERS' then
    q.exclude[#q.exclude + 1] = labeler
  end
  reopen_query(s, q, mode == 'LATER')
end
advance(s)
touch(s)
return cjson.encode({ applied = true, query = q.n, counts = counts(s) })
