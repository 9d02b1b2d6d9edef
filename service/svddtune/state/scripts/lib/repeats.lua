-- A call whose reply was lost is made again under the same id: it changes nothing then and gets the
-- reply of the first time.

-- Longer than any caller goes on asking.
local REMEMBERED_S = '60'

-- The reply of `run`, which runs once per call. A refusal, or a reply that says that there was nothing
-- to do, changed nothing and is simply found again.
local function once(run)
  local before = redis.call('GET', KEYS[2])
  if before then
    return before
  end
  local reply = run()
  if not refused and reply ~= '{}' then
    redis.call('SET', KEYS[2], reply, 'EX', REMEMBERED_S)
  end
  return reply
end
