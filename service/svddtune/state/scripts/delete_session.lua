-- Deletes a session with all its keys. Jobs of it that still run find nothing to change.
-- @session
-- @etag
-- @by_request
-- @durable
-- @keys session, dataset, index, queue, notices, labeling, retention
-- @reply deleted flag
delete_session(s)
return { deleted = true }
