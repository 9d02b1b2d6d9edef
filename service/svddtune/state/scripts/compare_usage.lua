-- Compares what projects have in this partition with what is counted of it. It changes nothing.
-- @repeatable
-- @keys session, dataset, index
-- @arg projects list: those that something is counted of
-- @arg sizes map: by id: bytes of the rows of datasets that are not counted
-- @reply projects map?: by name and kind: how much is counted, and how much there is; absent where there is
--   nothing
return { projects = compare_usage(args.projects, usage_by_definition(args.sizes)) }
