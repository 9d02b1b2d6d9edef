-- Raises the layout of one partition to that in force, and notes where all its sessions have reached it.
-- @repeatable
-- @keys layout, server
-- @arg layout integer: in force; a lower one than the partition has changes nothing
-- @arg migrated flag: all sessions and datasets that were there when it was raised have reached it
-- @reply migrated flag: they have, by this call or before
local MIGRATED = P .. 'layout:migrated'
if layout_in_force() < args.layout then
  redis.call('SET', P .. 'layout', int(args.layout))
end
local migrated = tonumber(redis.call('GET', MIGRATED) or FIRST_LAYOUT)
if args.migrated and migrated < args.layout then
  migrated = args.layout
  redis.call('SET', MIGRATED, int(migrated))
end
return { migrated = migrated >= args.layout }
