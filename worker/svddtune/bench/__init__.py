"""The evaluation: every method of the paper's table, on benchmark sets, as one command.

Order of reading: `paper` (what was published), `sets` (the data), `methods` (what is compared),
`units` (one piece of work and its key), `compute` (what a piece does), `engine` (all pieces on
all cores), `summary` (runs -> figures), `report` and `pictures` (what people read).

    python -m svddtune.bench paper --data DIR
"""
