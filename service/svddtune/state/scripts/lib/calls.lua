-- How the body of a script is run: what guards it, and what becomes of its reply. `run` is the body; it
-- returns its reply as a table, or nothing.

-- The body gets the session that the call names.
local function with_session(run)
  return function()
    local s = load_session(args.session)
    if not s then
      return refuse('SESSION_NOT_FOUND')
    end
    return run(s)
  end
end

-- The body runs only while the session is as the caller knows it, if the caller says how.
local function unchanged(run)
  return function(s)
    if args.etag and args.etag ~= s.version then
      return refuse('ETAG_MISMATCH', { current = s.version })
    end
    return run(s)
  end
end

-- The call comes from the worker that holds the job; it goes on holding it.
local function keeping_claim(run)
  return function()
    if claim_is_lost(args.claim) then
      return refuse('CLAIM_LOST')
    end
    return run(args.claim)
  end
end

-- The call comes from the worker that holds the job, and ends its claim: the body gets the job.
local function ending_claim(run)
  return keeping_claim(function(claim)
    local job = take_out(claim.stream, claim.entry)
    if not job then
      return refuse('CLAIM_LOST')
    end
    return run(job)
  end)
end

-- The body runs whenever the call is made.
local function each_time(run)
  return cmsgpack.pack(run() or {})
end

-- How long the reply of a call is kept, in seconds: longer than any caller goes on asking.
local REMEMBERED_S = '60'

-- The body runs once per call. A call whose reply was lost is made again under the same id: it changes
-- nothing then and gets the reply of the first time. A refusal, or an empty reply, says that nothing was
-- changed, and is simply found again.
local function once(run)
  local before = redis.call('GET', KEYS[1])
  if before then
    return before
  end
  local reply = run() or {}
  local packed = cmsgpack.pack(reply)
  if not reply.error and next(reply) ~= nil then
    redis.call('SET', KEYS[1], packed, 'EX', REMEMBERED_S)
  end
  return packed
end

-- As long as a request is known by the id that its caller gave it.
local REQUEST_KNOWN_S = '86400'

-- As `once`, and for a day if the caller gave the request an id: it may come again after a restart of the
-- caller. KEYS[1] is then named after that id, and the arguments must be the same.
local function once_by_request(run)
  if not args.request_id then
    return once(run)
  end
  local asked = redis.sha1hex(ARGV[1])
  local before = redis.call('GET', KEYS[1])
  if before then
    if string.sub(before, 1, #asked) ~= asked then
      return cmsgpack.pack(refuse('REQUEST_ID_REUSED'))
    end
    return string.sub(before, #asked + 1)
  end
  local reply = run() or {}
  local packed = cmsgpack.pack(reply)
  if not reply.error then
    redis.call('SET', KEYS[1], asked .. packed, 'EX', REQUEST_KNOWN_S)
  end
  return packed
end
