"""The evaluation on benchmark sets: the paper's table, labelers who err, labelers side by side.

Order of reading: `paper` (what was published), `sets` (the data), `methods` (what is compared),
`units` (one piece of work and its key), `compute` (what a piece does, by kind in `sessions`,
`labelers`, `label_free`, `curves`), `engine` (all pieces on all cores), `commands`. What comes of
the paper's pieces: `plan`, `summary`, `evidence`, `report`, `figures`, `docs`. Of the other two:
`comparison`, `noise`, `parallel`.

    python -m svddtune.evaluation paper --data DIR
"""
