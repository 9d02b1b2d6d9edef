-- Withdraws a labeler's vote on a row. Where a query asked for it, the query is open again, in front.
-- ARGV: prefix, session id, answer id, fingerprint, labeler whose vote it is, row, who says so.
-- Reply and repeats: as in answer.lua.
-- Refusals: SESSION_NOT_FOUND, ANSWER_ID_REUSED, SESSION_NOT_ACTIVE {state}, NOT_LABELED {row},
--   TOO_MANY_CORRECTIONS {row, most} (of who says so).
local _, sid, answer_id, fingerprint, labeler, row, speaker = unpack(ARGV)
row = tonumber(row)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local before = seen_before(s, answer_id, fingerprint)
if before then
  return before
end
if not takes_labels(s) then
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
local votes = load_votes(s, row)
local vote, position = vote_of(votes, labeler)
if not vote then
  return refuse('NOT_LABELED', { row = row })
end
local refusal = refuse_correction(s, row, speaker)
if refusal then
  return refusal
end

local source = speaker ~= labeler and 'by ' .. speaker or ''
local event = log_label(s, 'RETRACTED', row, vote[2], labeler, vote[3], source, answer_id)
local n = number_of_query(s, row, votes)
table.remove(votes, position)
save_votes(s, row, votes)
end_repeats(s, row, labeler)
settle(s, row, n)
go_on(s)
return give_receipt(s, answer_id, fingerprint, true, n, event)
