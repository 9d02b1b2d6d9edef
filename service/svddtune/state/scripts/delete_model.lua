-- Removes an uploaded model before its time.
-- @durable
-- @keys model
-- @arg model text
-- @arg key text: what stands for it in its project
-- @reply deleted flag
-- @refusal MODEL_NOT_FOUND model
if redis.call('UNLINK', P .. 'm:' .. args.key) == 0 then
  return refuse('MODEL_NOT_FOUND', { model = args.model })
end
return { deleted = true }
