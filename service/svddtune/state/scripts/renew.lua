-- The worker is alive: its claim starts anew.
-- @claim stays
-- @repeatable
-- @keys queue
redis.call('XCLAIM', claim.stream, GROUP, claim.consumer, '0', claim.entry, 'JUSTID')
