-- Shows that the server takes writes, and whether it still has the data it had.
-- ARGV: prefix, layout version, name for the data where they have none.
-- Reply: {"data"}: their name. Data that were lost have no name, nor a layout version: both are set anew.
local _, layout, name = unpack(ARGV)
redis.call('SET', P .. 'probe', int(NOW), 'EX', '60')
redis.call('SET', P .. 'layout', layout, 'NX')
redis.call('SET', P .. 'data', name, 'NX')
return cjson.encode({ data = redis.call('GET', P .. 'data') })
