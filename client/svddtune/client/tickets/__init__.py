"""Tickets as an oracle: read an export, map values to verdicts, join to observations, answer.

Three rules hold everywhere. A value that the mapping does not name gives no verdict. An ambiguous
value gives no verdict. Everything without a verdict is counted and reported.
"""
