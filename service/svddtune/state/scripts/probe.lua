-- Shows that the server takes writes, and whether it still has the data it had.
-- @repeatable
-- @keys server, layout
-- @arg layout integer: set where the data have none
-- @arg name text: name for the data, set where they have none
-- @reply data text: their name. Data that were lost have none, nor a layout version: both are set anew
redis.call('SET', P .. 'proof', int(NOW), 'EX', '60')
redis.call('SET', P .. 'layout', args.layout, 'NX')
redis.call('SET', P .. 'data', args.name, 'NX')
return { data = redis.call('GET', P .. 'data') }
