"""The compute process: takes jobs from the queue, runs the numerics, commits the outcome."""
