-- Lets the time to live of a dataset begin that no session used before its version measured that. One whose
-- time has begun stays as it is.
-- @repeatable
-- @keys dataset, retention
-- @arg dataset text
if redis.call('HEXISTS', dataset_key(args.dataset), 'unused_ms') == 0 then
  mark_unused(args.dataset)
end
