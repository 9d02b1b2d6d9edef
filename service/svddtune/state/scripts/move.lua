-- Steers a session: pause, resume, finish, cancel, a new budget or priority.
-- ARGV: prefix, session id, verb, new value (for "budget" and "priority").
-- Reply: {"state"}; asking for what already holds changes nothing.
-- Refusals: SESSION_NOT_FOUND, ILLEGAL_TRANSITION {state}, BUDGET_SPENT {labels, budget},
--   BUDGET_TOO_SMALL {labels}, BUDGET_TOO_LARGE {n}, SESSION_NOT_ACTIVE {state}.
local _, sid, verb, budget = unpack(ARGV)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local active = s.state == 'LABELING' or s.state == 'PAUSED'

if verb == 'pause' then
  if s.state ~= 'LABELING' and s.state ~= 'PAUSED' then
    return refuse('ILLEGAL_TRANSITION', { state = s.state })
  end
  set(s, 'state', 'PAUSED')
elseif verb == 'resume' then
  if s.state == 'PAUSED' then
    -- It labels at once where all that it needs is there (an upgrade may have taken that away).
    set(s, 'state', 'PREPARING')
    prepare_session(s)
  elseif s.state == 'COMPLETED' or s.state == 'FAILED' then
    if total(s) >= tonumber(s.budget) then
      return refuse('BUDGET_SPENT', { labels = total(s), budget = tonumber(s.budget) })
    end
    set(s, 'state', 'PREPARING', 'finish_reason', '', 'failure_reason', '', 'failure_message', '',
      'exhausted_rev', '', 'ranked_rev', '')
    prepare_session(s)
  elseif s.state ~= 'LABELING' then
    return refuse('ILLEGAL_TRANSITION', { state = s.state })
  end
elseif verb == 'finish' then
  if active then
    begin_estimating(s, 'FINISHED')
  elseif s.state ~= 'ESTIMATING' and s.state ~= 'COMPLETED' then
    return refuse('ILLEGAL_TRANSITION', { state = s.state })
  end
elseif verb == 'cancel' then
  if s.state == 'COMPLETED' or s.state == 'FAILED' then
    return refuse('ILLEGAL_TRANSITION', { state = s.state })
  end
  drop_queries(s)
  redis.call('SREM', P .. 'd:' .. s.dataset .. ':waiting:' .. s.prep, sid)
  leave_atlas(s)
  set(s, 'state', 'CANCELLED', 'finish_reason', 'CANCELLED')
elseif verb == 'budget' then
  budget = tonumber(budget)
  if s.state == 'ESTIMATING' or s.state == 'CANCELLED' then
    return refuse('SESSION_NOT_ACTIVE', { state = s.state })
  end
  if budget > tonumber(s.n) then
    return refuse('BUDGET_TOO_LARGE', { n = tonumber(s.n) })
  end
  if budget < total(s) then
    return refuse('BUDGET_TOO_SMALL', { labels = total(s) })
  end
  set(s, 'budget', int(budget))
elseif verb == 'priority' then
  set(s, 'priority', budget)
  if s.state == 'LABELING' then
    redis.call('HSET', P .. 'labeling', s.id, s.priority .. ' ' .. s.created_ms)
  end
end
go_on(s)
touch(s)
return cjson.encode({ state = s.state })
