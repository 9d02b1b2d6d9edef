-- A job could not be done. It is tried again after a pause, until it raised too many errors (or where
-- it can never succeed); then it becomes a dead letter and its session, or all that wait for it, say so.
-- @claim ends
-- @keys session, dataset, queue, notices, labeling, retention
-- @arg most_errors integer: give it up at so many; 1 where it is not to be tried again
-- @arg reason text
-- @arg message text
-- @reply dead flag: it is given up
return { dead = count_error(job, args.most_errors, args.reason, args.message) }
