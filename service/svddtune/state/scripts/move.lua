-- Steers a session. Asking for what holds already changes nothing.
-- @session
-- @by_request
-- @durable
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg verb text: pause, resume, finish or cancel
-- @reply state text
-- @refusal ILLEGAL_TRANSITION state
-- @refusal BUDGET_SPENT labels, budget
local verb = args.verb
local active = s.state == 'LABELING' or s.state == 'PAUSED'

if verb == 'pause' then
  if not active then
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
    revive_session(s)
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
  if s.state ~= 'CANCELLED' then
    drop_queries(s)
    redis.call('SREM', dataset_key(s.dataset) .. ':waiting:' .. s.prep, s.id)
    leave_atlas(s)
    set(s, 'state', 'CANCELLED', 'finish_reason', 'CANCELLED')
    compact_session(s, NOW)
  end
end
go_on(s)
touch(s)
return { state = s.state }
