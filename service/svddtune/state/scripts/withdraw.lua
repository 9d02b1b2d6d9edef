-- Makes all votes of a labeler void, lets them count again, or tells what withdrawing would do.
-- @session
-- @etag
-- @by_request
-- @durable
-- @keys session, dataset, queue, notices, labeling
-- @arg labeler text
-- @arg verb text: withdraw, reinstate or preview
-- @arg speaker text: who says so
-- @arg preview_job bytes?: payload of the job that computes the rest of a preview
-- @reply votes integer, lost integer, changed integer, gained integer, reopened integer, before map,
--   after map: the last two are counts
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal UNKNOWN_LABELER
local labeler, verb = args.labeler, args.verb
if s.state == 'ESTIMATING' or s.state == 'CANCELLED' or s.state == 'FAILED' then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
local rows, all = {}, redis.call('HGETALL', part(s, 'votes'))
for i = 1, #all, 2 do
  local votes = cjson.decode(all[i + 1])
  local vote = vote_of(votes, labeler)
  if vote then
    local row = tonumber(all[i])
    rows[#rows + 1] = { row = row, votes = votes, n = number_of_query(s, row, votes) }
  end
end
if #rows == 0 and redis.call('HEXISTS', part(s, 'labelers'), labeler) == 0 then
  return refuse('UNKNOWN_LABELER')
end
-- In the order of the rows, so that a replay of the log gives the same queue.
table.sort(rows, function(a, b) return a.row < b.row end)

local now, later = withdrawn_labelers(s), {}
for name in pairs(now) do
  later[name] = true
end
later[labeler] = verb ~= 'reinstate' or nil
local effect = { votes = 0, lost = 0, changed = 0, gained = 0, reopened = 0, before = counts(s) }
local after = { ['1'] = tonumber(s.inlier), ['-1'] = tonumber(s.outlier), ['0'] = tonumber(s.unsure) }
local changes = (now[labeler] or false) ~= (later[labeler] or false)
for _, one in ipairs(changes and rows or {}) do
  local q = query_for_votes(s, one.row, one.n)
  local old = judge(s, one.votes, q, now)
  local new, wanted, count = judge(s, one.votes, q, later)
  effect.votes = effect.votes + 1
  if old then
    after[old] = after[old] - 1
  end
  if new then
    after[new] = after[new] + 1
  end
  if old ~= new then
    local kind = not new and 'lost' or not old and 'gained' or 'changed'
    effect[kind] = effect[kind] + 1
  end
  if q and q.state ~= 'open' and count < wanted then
    effect.reopened = effect.reopened + 1
  end
end
effect.after = { inlier = after['1'], outlier = after['-1'], unsure = after['0'] }

if verb == 'preview' then
  if changes then
    enqueue(HI, 'PREVIEW', s, args.preview_job)
  end
  return effect
end
if changes then
  redis.call(later[labeler] and 'SADD' or 'SREM', part(s, 'withdrawn'), labeler)
  s.withdrawn = later
  log_label(s, verb == 'withdraw' and 'WITHDRAWN' or 'REINSTATED',
    { row = 0, verdict = '0', labeler = labeler, source = 'by ' .. args.speaker })
  if later[labeler] then
    for _, id in ipairs(redis.call('ZRANGE', part(s, 'leases'), 0, -1)) do
      local q = get_query(s, query_of_lease(id))
      if q.leases[id].labeler == labeler then
        end_lease(s, q, id)
        queue_query(s, q, false)
      end
    end
    -- Whoever waits is to learn that nothing comes.
    for _, text in ipairs(redis.call('HVALS', part(s, 'waiters'))) do
      local w = cjson.decode(text)
      if w.labeler == labeler then
        tell(s, w.holder)
      end
    end
  end
  for _, one in ipairs(rows) do
    settle(s, one.row, one.n)
  end
  go_on(s)
  touch(s)
end
return effect
