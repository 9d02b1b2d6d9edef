"""Tickets as an oracle: read an export, map its verdicts, join it to observations, answer.

Three rules run through all of it: a value that the mapping does not name says nothing, what could
mean two things says nothing, and whatever says nothing is counted and reported.
"""
