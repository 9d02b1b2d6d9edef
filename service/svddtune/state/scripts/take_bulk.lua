-- A worker takes the bulk job whose turn it is.
-- @keys session, dataset, queue
-- @arg consumer text
-- @arg woken_by list: entries of the wake stream that woke it
-- @reply entry text?: in the bulk stream, the consumer's claim now; absent where no job waits
for _, entry in ipairs(args.woken_by) do
  redis.call('XACK', WAKE, GROUP, entry)
  redis.call('XDEL', WAKE, entry)
end
return { entry = begin_bulk_job(args.consumer) }
