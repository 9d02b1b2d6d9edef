-- Stores a new session with its initial labels and sets it going.
-- @durable
-- @keys session, dataset, index, queue, notices, labeling, retention
-- @arg session text: its id
-- @arg dataset text
-- @arg project text?: nothing for the default one
-- @arg limits map: of the project, by kind: the limit, and what it has in other partitions
-- @arg record bytes: a SessionRecord message
-- @arg settings map: fields of the session's hash that follow from its configuration
-- @arg preparation text: name of the dataset's preparation that it needs
-- @arg range text: name of its range of gamma
-- @arg secret text: random; its lease ids follow from it
-- @arg initial list: of {row, votes}, a vote being {labeler, verdict, source, provenance, confidence as
--   text ("" for none), id of the session that it was given in ("" for this one)}
-- @arg controls list: rows of its control items, in the order in which labelers get them
-- @arg jobs map: payloads of its jobs: prepare, suggest, refine, plan and estimate
-- @arg atlas_jobs list: payloads of the jobs that make the parts of its atlas
-- @arg request_id text: "" where there is none
-- @arg request_key text: what stands for it in the project
-- @arg request_ttl_s integer: how long it is known
-- @arg fingerprint text: hash of what is asked for
-- @reply session text: its id; that of the session made before where the request id was seen before
-- @refusal DATASET_NOT_FOUND
-- @refusal REQUEST_ID_REUSED
-- @refusal QUOTA_EXCEEDED quota, limit, used, project
local request_key = P .. 'request:' .. args.request_key
if args.request_id ~= '' then
  local seen = redis.call('GET', request_key)
  if seen then
    local known = cjson.decode(seen)
    if known.fingerprint ~= args.fingerprint then
      return refuse('REQUEST_ID_REUSED')
    end
    return { session = known.session }
  end
end

local d = dataset_key(args.dataset)
local n = redis.call('HGET', d, 'n')
if not n then
  return refuse('DATASET_NOT_FOUND')
end

local above = refuse_above(args.project, args.limits, { sessions = 1 })
if above then
  return above
end

local s = { key = P .. 's:' .. args.session, told = {} }
set(s, 'id', args.session, 'dataset', args.dataset, 'record', args.record, 'n', n,
  'prep', args.preparation, 'range', args.range, 'secret', args.secret, 'state', 'PREPARING',
  'rev', '0', 'attempt', '0', 'revision', '0', 'inlier', '0', 'outlier', '0', 'unsure', '0',
  'queries', '0', 'suggesting', '0', 'ranked_rev', '', 'ranked_moment', '', 'ranked_queries', '0',
  'exhausted_rev', '', 'outrun', '0', 'gamma', '0', 'alignment', '0', 'c', '0', 'live', '',
  'scaling', '0', 'detectors', '', 'detectors_total', '0', 'refining', '0',
  'atlas_done', '0', 'atlas_parts', int(#args.atlas_jobs),
  'finish_reason', '', 'failure_reason', '', 'failure_message', '', 'version', '0',
  'created_ms', int(NOW), 'updated_ms', int(NOW), 'counted', '1')
count_usage(args.project, { sessions = 1 })
if args.project then
  set(s, 'project', args.project)
  redis.call('ZADD', own_index('sessions', args.project), int(NOW), args.session)
end
for name, value in pairs(args.settings) do
  set(s, name, value)
end
for kind, payload in pairs(args.jobs) do
  set(s, 'job_' .. kind, payload)
end
for _, label in ipairs(args.initial) do
  local row, votes = label[1], {}
  for i, vote in ipairs(label[2]) do
    local labeler, verdict, source, provenance, confidence, origin = unpack(vote)
    verdict = int(verdict)
    votes[i] = { labeler, verdict, 0, confidence }
    log_label(s, 'LABELED', { row = row, verdict = verdict, labeler = labeler, source = source,
      provenance = provenance, confidence = confidence, origin = origin })
  end
  save_votes(s, row, votes)
  settle(s, row, 0)
end
if #args.controls > 0 then
  redis.call('RPUSH', part(s, 'controls'), unpack(args.controls))
  -- Nothing else asks about them, also in processes of earlier versions.
  redis.call('SADD', part(s, 'dropped'), unpack(args.controls))
end
redis.call('SADD', d .. ':sessions', args.session)
mark_used(args.dataset)
redis.call('ZADD', P .. 'sessions', int(NOW), args.session)

declare_atlas(args.dataset, args.range, args.atlas_jobs)
prepare_session(s)
touch(s)
if args.request_id ~= '' then
  redis.call('SET', request_key,
    cjson.encode({ session = args.session, fingerprint = args.fingerprint }), 'EX', int(args.request_ttl_s))
end
return { session = args.session }
