-- Makes an uploaded dataset visible, once all its parts are there.
-- ARGV: prefix, dataset id, record, n, chunks of rows, 1 where it has ids, 1 where displays.
-- Reply: {"existed"}. Refusals: DATASET_INCOMPLETE (parts expired or were deleted meanwhile).
local _, id, record, n, chunks, has_ids, has_display = unpack(ARGV)
local d = P .. 'd:' .. id
if redis.call('EXISTS', d) == 1 then
  return cjson.encode({ existed = true })
end
local parts = {}
for i = 0, tonumber(chunks) - 1 do
  parts[#parts + 1] = d .. ':x:' .. i
end
if has_ids == '1' then
  parts[#parts + 1] = d .. ':ids'
  parts[#parts + 1] = d .. ':rows'
end
if has_display == '1' then
  parts[#parts + 1] = d .. ':display'
end
for _, key in ipairs(parts) do
  if redis.call('EXISTS', key) == 0 then
    return refuse('DATASET_INCOMPLETE')
  end
end
for _, key in ipairs(parts) do
  redis.call('PERSIST', key)
end
redis.call('HSET', d, 'record', record, 'n', n, 'chunks', chunks, 'has_ids', has_ids,
  'has_display', has_display, 'created_ms', int(NOW))
redis.call('ZADD', P .. 'datasets', int(NOW), id)
return cjson.encode({ existed = false })
