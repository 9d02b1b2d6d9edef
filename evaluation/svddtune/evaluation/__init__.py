"""The evaluation on benchmark sets: the paper's table, wrong labels, and parallel labelers.

Read the modules in this order: `paper` (published figures), `sets` (data), `methods` (what is
compared), `units` (a piece of work and its key), `compute` (how a piece is computed, by kind in
`sessions`, `aside`, `labelers`, `table_methods`, `curves` and `ablation`), `engine` (all pieces on
all cores), `commands`.
The results of ``svddtune bench paper`` are made by `plan`, `summary`, `evidence`, `report`,
`figures` and `docs`, those of ``noise`` and ``parallel`` by `comparison`, `noise` and `parallel`.

    svddtune bench paper --data DIR
"""
