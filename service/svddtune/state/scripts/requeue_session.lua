-- Makes the jobs anew that a session waits for, where none of them is there.
-- @session
-- @keys session, dataset, queue, notices, labeling
-- @reply state text, queued flag: it was made; false where one is there, or the session waits for none
local KINDS = ({
  PREPARING = { PREPARE = true, ATLAS = true },
  LABELING = { SUGGEST = true },
  ESTIMATING = { PLAN = true, FIT = true, ESTIMATE = true },
})[s.state] or {}
local owner = s.state == 'PREPARING' and s.dataset or s.id

local function is_one(job)
  return KINDS[job.kind] and owner_of(job) == owner
end

local function any_packed(found)
  for _, packed in ipairs(found) do
    if is_one(cmsgpack.unpack(packed)) then
      return true
    end
  end
end

local there = any_packed(redis.call('ZRANGE', LATER, 0, -1))
for _, stream in ipairs({ HI, BULK }) do
  there = there or any_packed(redis.call('LRANGE', later_jobs(stream, owner), 0, -1))
  for _, entry in ipairs(redis.call('XRANGE', stream, '-', '+')) do
    there = there or is_one(job_at(stream, entry[1]))
  end
end
if there or not next(KINDS) or (s.state == 'LABELING' and s.suggesting ~= '1') then
  return { state = s.state, queued = false }
end

if s.state == 'PREPARING' then
  local d = dataset_key(s.dataset)
  if redis.call('HGET', d, 'prep:' .. s.prep) == 'queued' then
    redis.call('HDEL', d, 'prep:' .. s.prep)
  end
  redis.call('DEL', atlas_key(s.dataset, s.range) .. ':flying')
  prepare_session(s)
elseif s.state == 'ESTIMATING' then
  begin_estimating(s, s.finish_reason)
else
  set(s, 'suggesting', '0')
  go_on(s)
end
touch(s)
return { state = s.state, queued = true }
