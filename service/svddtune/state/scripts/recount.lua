-- Counts anew what projects have in this partition. From then on, what was not counted is.
-- @repeatable
-- @keys session, dataset, index
-- @arg projects list: those that something is counted of
-- @arg sizes map: by id: bytes of the rows of datasets that are not counted
local found = usage_by_definition(args.sizes, function(key, counted)
  redis.call('HSETNX', key, 'counted', int(counted))
end)
for _, project in ipairs(args.projects) do
  redis.call('DEL', usage_key(project))
end
for project, has in pairs(found) do
  redis.call('DEL', usage_key(project))
  count_usage(project, has)
end
