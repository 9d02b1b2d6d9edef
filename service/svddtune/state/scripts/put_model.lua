-- Keeps an uploaded model for a while. One that is there already has the same content, because its id
-- follows from that; it lives on, at least as long as before.
-- @durable
-- @keys model
-- @arg key text: what stands for it in its project
-- @arg pieces list: the content, at least one piece
-- @arg ttl_ms integer: milliseconds to live
-- @reply expires_ms integer: when it expires
local m = P .. 'm:' .. args.key
local left = redis.call('PTTL', m)
if left < 0 then
  for _, piece in ipairs(args.pieces) do
    redis.call('RPUSH', m, piece)
  end
end
left = math.max(left, args.ttl_ms)
redis.call('PEXPIREAT', m, int(NOW + left))
return { expires_ms = NOW + left }
