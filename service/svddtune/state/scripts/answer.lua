-- Stores one verdict.
-- ARGV: prefix, session id, answer id, fingerprint of its content, labeler, query or 0, lease id,
--   row or -1, verdict (1, -1, 0), source reference, holder, queries it wants to hold next (0: none).
--   The next ranking hands these out itself: the labeler waits for one write less.
-- Reply: {"applied", "query", "counts", "event"}; the same for a repeat.
-- Refusals: SESSION_NOT_FOUND, ANSWER_ID_REUSED, UNKNOWN_QUERY, OBSERVATION_MISMATCH {row},
--   LEASE_LOST, SESSION_NOT_ACTIVE {state}, ALREADY_ANSWERED {verdict, row}.
local _, sid, answer_id, fingerprint, labeler, n, lease, row, verdict, source, holder, most =
  unpack(ARGV)
n, row = tonumber(n), tonumber(row)
local s = load_session(sid)
if not s then
  return refuse('SESSION_NOT_FOUND')
end
local before = seen_before(s, answer_id, fingerprint)
if before then
  return before
end

local q
if n > 0 then
  q = get_query(s, n)
  if not q then
    return refuse('UNKNOWN_QUERY', { query = n })
  end
  if row >= 0 and row ~= q.row then
    return refuse('OBSERVATION_MISMATCH', { row = q.row })
  end
  row = q.row
  local issued = false
  for _, id in ipairs(q.issued) do
    issued = issued or id == lease
  end
  if not issued then
    return refuse('LEASE_LOST', { query = n })
  end
end

local function too_late()
  local event = log_label(s, 'UNUSED', row, verdict, labeler, n, source, answer_id)
  return give_receipt(s, answer_id, fingerprint, false, n, event)
end

if s.state ~= 'LABELING' and s.state ~= 'PAUSED' and s.state ~= 'PREPARING' then
  if q then
    return too_late()
  end
  return refuse('SESSION_NOT_ACTIVE', { state = s.state })
end
local existing = redis.call('HGET', part(s, 'labels'), int(row))
local existing_verdict = existing and string.match(existing, '^%S+')
if existing and existing_verdict ~= '0' then
  if q then
    return too_late()
  end
  return refuse('ALREADY_ANSWERED', { verdict = existing_verdict, row = row })
end

local asked = redis.call('HGET', part(s, 'asked'), int(row))
if asked then
  local open = get_query(s, asked)
  -- Remembered with the label, also where the answer came unasked: a retraction asks again.
  n = open.n
  close_query(s, open, 'answered')
end
apply_label(s, row, verdict, n)
local event = log_label(s, 'LABELED', row, verdict, labeler, n, source, answer_id)
if tonumber(most) > 0 then
  redis.call('RPUSH', part(s, 'waiting'),
    cjson.encode({ holder = holder, labeler = labeler, most = tonumber(most) }))
end
advance(s)
return give_receipt(s, answer_id, fingerprint, true, n, event)
