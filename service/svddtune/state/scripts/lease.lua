-- Hands out queries until a labeler holds as many as it wants, or there are no more.
-- @session
-- @repeatable
-- @keys session, dataset, queue, notices, labeling
-- @arg request map: who asks for how many, a LeaseRequest
-- @arg waits flag: it waits for those that it does not get now
-- @reply state text, finish_reason text, withdrawn flag, lacks_tags flag, leases list, now_ms integer,
--   lease_ms integer, expired integer:
--   leases are all that the holder has, older ones first, each with the fields of a Lease
local w = args.request
local expired = expire_leases(s)
local before = #held_by(s, w.holder)
local withdrawn = withdrawn_labelers(s)[w.labeler] or false
local lacks_tags = w.most > 0 and not has_tags(s, w)
if before < w.most and not has_ended(s) and not lacks_tags then
  wait_for_queries(s, w)
else
  stop_waiting(s, w.holder)
end
go_on(s, w.holder)
if not args.waits then
  stop_waiting(s, w.holder)
end

-- The votes on a row that an adjudicator is to decide: how many say what.
local function votes_cast(row)
  local cast = { ['1'] = 0, ['-1'] = 0, ['0'] = 0 }
  for _, vote in ipairs(load_votes(s, row)) do
    if not withdrawn_labelers(s)[vote[1]] then
      cast[vote[2]] = cast[vote[2]] + 1
    end
  end
  return { cast['1'], cast['-1'], cast['0'] }
end

local held, leases = held_by(s, w.holder), {}
-- It learns of its own leases by this reply.
s.told[w.holder] = nil
if expired > 0 or #held > before or next(s.told) or s.state ~= s.state_before then
  touch(s)
end
for i, id in ipairs(held) do
  local q = get_query(s, query_of_lease(id))
  leases[i] = { query = q.n, row = q.row, lease_id = id, expires_ms = q.leases[id].expires,
    repeats = q.repeats ~= nil and not q.control, trace = q.trace or '',
    conflict = q.conflict and votes_cast(q.row) or nil }
end
table.sort(leases, function(a, b) return a.query < b.query end)
return { state = s.state, finish_reason = s.finish_reason, withdrawn = withdrawn,
  lacks_tags = lacks_tags, leases = leases,
  now_ms = NOW, lease_ms = tonumber(s.lease_ms), expired = expired }
