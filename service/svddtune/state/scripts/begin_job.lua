-- A worker has taken a job of the bulk lane: the next one of its owner waits in its place.
-- ARGV: prefix, entry, owner (session, or dataset of a job without one).
-- Reply: {}.
pass_turn(ARGV[3], ARGV[2])
return '{}'
