-- Stores a new session with its initial labels and sets it going.
-- ARGV: prefix, session id, dataset id, record, budget, lease in ms, name of the preparation, name
--   of the range of gamma, request id or "",
--   hash of the request, initial labels as JSON [[row, verdict, source], ...], their labeler,
--   random hex, overlap as JSON {overlap, overlap_rule, overlap_limit, repeat_every}, priority,
--   1 where queries need the atlas, job payloads: prepare, suggest, plan, estimate, and one for
--   each part of the atlas.
-- Reply: {"session": id}; "repeated": true where the request id was seen before.
-- Refusals: DATASET_NOT_FOUND, REQUEST_ID_REUSED.
local _, sid, dataset, record, budget, lease_ms, prep, range, request, fingerprint, initial, labeler,
  secret, overlap, priority, needs_atlas, job_prepare, job_suggest, job_plan, job_estimate = unpack(ARGV)
local FIRST_ATLAS_JOB = 21

local request_key = P .. 'request:' .. request
if request ~= '' then
  local seen = redis.call('GET', request_key)
  if seen then
    local known = cjson.decode(seen)
    if known.fingerprint ~= fingerprint then
      return refuse('REQUEST_ID_REUSED')
    end
    return cjson.encode({ session = known.session, repeated = true })
  end
end

local d = P .. 'd:' .. dataset
local n = redis.call('HGET', d, 'n')
if not n then
  return refuse('DATASET_NOT_FOUND')
end

local s = { key = P .. 's:' .. sid, told = {} }
set(s, 'id', sid, 'dataset', dataset, 'record', record, 'n', n, 'budget', budget,
  'lease_ms', lease_ms, 'prep', prep, 'range', range, 'state', 'PREPARING', 'rev', '0', 'attempt', '0', 'revision', '0',
  'inlier', '0', 'outlier', '0', 'unsure', '0', 'queries', '0', 'suggesting', '0',
  'ranked_rev', '', 'ranked_moment', '', 'ranked_queries', '0', 'exhausted_rev', '', 'outrun', '0', 'gamma', '0', 'alignment', '0',
  'needs_atlas', needs_atlas, 'atlas_done', '0', 'c', '0', 'live', '',
  'finish_reason', '', 'failure_reason', '', 'failure_message', '', 'version', '0',
  'created_ms', int(NOW), 'updated_ms', int(NOW),
  'secret', secret, 'priority', priority,
  'job_prepare', job_prepare, 'job_suggest', job_suggest, 'job_plan', job_plan, 'job_estimate', job_estimate)
for name, value in pairs(cjson.decode(overlap)) do
  set(s, name, value)
end
for _, label in ipairs(cjson.decode(initial)) do
  local row, verdict = label[1], int(label[2])
  save_votes(s, row, { { labeler, verdict, 0 } })
  log_label(s, 'LABELED', row, verdict, labeler, 0, label[3], '')
  settle(s, row, 0)
end
redis.call('SADD', d .. ':sessions', sid)
redis.call('ZADD', P .. 'sessions', int(NOW), sid)

declare_atlas(dataset, range, { unpack(ARGV, FIRST_ATLAS_JOB) })
prepare_session(s)
touch(s)
if request ~= '' then
  redis.call('SET', request_key, cjson.encode({ session = sid, fingerprint = fingerprint }),
    'EX', '86400')
end
return cjson.encode({ session = sid })
