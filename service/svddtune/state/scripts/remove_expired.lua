-- Removes what was kept for its whole time: sessions that have ended, and datasets that no session uses. Where this server's clock went back, all of it stays for as much longer.
-- @durable
-- @keys session, dataset, index, queue, notices, labeling, retention
-- @arg session_ms integer: for how long sessions are kept that do not say so themselves; 0 for good
-- @arg dataset_ms integer: for how long datasets are that no session uses
-- @arg most integer: remove no more than so many of each kind
-- @reply sessions list?, datasets list?: what went; absent where nothing did. Of sessions {id, project, '1'
--   where the time was its own}, of datasets {id, project, in hexadecimal the StoredRows message, empty
--   where its rows are not in the dataset store}
-- (A reply has text only.)
local function hex(bytes)
  return (string.gsub(bytes, '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end))
end

local function until_now(index, kept_ms, most)
  return redis.call('ZRANGEBYSCORE', index, '-inf', int(NOW - kept_ms), 'LIMIT', 0, most)
end

local function due(index, kept_ms, most)
  return kept_ms == 0 and {} or until_now(index, kept_ms, most)
end

-- The session, where it may go; nil where it is gone or goes on.
local function ended_session(sid)
  local s = load_session(sid)
  if not s or not has_ended(s) then
    unindex_end(s or { id = sid })
    return nil
  end
  if tonumber(s.estimating_ms or 0) > tonumber(s.ended_ms or 0) then
    -- A process of an earlier version let it go on, and it has ended since.
    compact_session(s, s.estimating_ms)
    return nil
  end
  return s
end

local sessions = {}

local function remove(s)
  delete_session(s)
  sessions[#sessions + 1] = { s.id, s.project or 'default', s.retention_ms and '1' or '' }
end

for _, sid in ipairs(until_now(ENDING, 0, args.most)) do
  local s = ended_session(sid)
  if s then
    remove(s)
  end
end
for _, sid in ipairs(due(ENDED, args.session_ms, args.most - #sessions)) do
  local s = ended_session(sid)
  if s and s.retention_ms then
    -- A process of an earlier version ended it.
    index_end(s)
  elseif s then
    remove(s)
  end
end
local datasets = {}
for _, id in ipairs(due(UNUSED, args.dataset_ms, args.most)) do
  local d = dataset_key(id)
  if redis.call('SCARD', d .. ':sessions') > 0 then
    mark_used(id)
  else
    local project, stored = unpack(redis.call('HMGET', d, 'project', 'stored'))
    forget_dataset(id)
    datasets[#datasets + 1] = { id, project or 'default', hex(stored or '') }
  end
end
if #sessions + #datasets > 0 then
  return { sessions = sessions, datasets = datasets }
end
