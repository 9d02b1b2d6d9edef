-- Stores verdicts that nobody asked for. Each has the effect of `answer`, and a repeat has none; a refused
-- one does not hinder the others. What follows from the labels is done once, after the last batch.
-- @session
-- @repeatable
-- @durable
-- @keys session, dataset, queue, notices, labeling
-- @arg answers list: maps with those arguments of `answer` that an unasked verdict has
-- @arg labeler text
-- @arg holder text
-- @arg hold_ms integer: how long the next ranking waits for a further batch; 0 after the last
-- @arg most_corrections integer: of all labelers on a row; 0 for no limit
-- @arg trace text?: traceparent of the span that the next ranking follows from
-- @reply applied integer, counts map, refused list: of the answers that are refused, maps with the index
--   from 0, the reason and what comes with it
-- @refusal ANSWER_ID_REUSED answer_id
-- @refusal LABELER_WITHDRAWN labeler
-- @refusal SESSION_NOT_ACTIVE state
-- @refusal ALREADY_ANSWERED verdict, row
-- @refusal AWAITS_ADJUDICATION row
-- @refusal TOO_MANY_CORRECTIONS labeler, row, most
-- @refusal TOO_MANY_EVENTS row, limit, used
s.most_corrections, s.trace = args.most_corrections, args.trace
local applied, changed, refused = 0, false, {}
local held = is_held(s)
set(s, 'held_until', args.hold_ms > 0 and int(NOW + args.hold_ms) or '0')
for i, one in ipairs(args.answers) do
  one.labeler, one.holder, one.query = args.labeler, args.holder, 0
  local reply, stored = take_answer(s, one, function()
    -- The session may end in the middle.
    if total(s) >= tonumber(s.budget) then
      go_on(s)
    end
  end)
  changed = changed or stored
  if reply.error then
    reply.index = i - 1
    refused[#refused + 1] = reply
  elseif reply.applied then
    applied = applied + 1
  end
end
if args.hold_ms == 0 and (changed or held) then
  go_on(s)
end
if changed or held then
  touch(s)
end
return { applied = applied, counts = counts(s), refused = refused }
