"""Sessions whose outlook is compared with what came: the share of outliers, the next gain."""

from __future__ import annotations

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task
from svddtune.numerics import (
    AHEAD,
    DEFAULT_STRATEGY,
    LEAST_LABELS,
    as_labels,
    believe,
    believed_share,
    prospect_of,
    run,
    score,
    weigh,
)

STEP = 5
LAST = 50
"""Labels up to which the outlook is recorded; the session goes on for `AHEAD` further ones."""


def outlook_session(task: Task) -> Record:
    """What the belief says of the share and the gain on the way, and true kappa then and after."""
    y, atlas, basis = task.y, task.atlas, task.basis
    initial = task.initial(2)
    result = run(
        task.views, y, budget=min(LAST + AHEAD, len(y)), k=LOCALITY, strategy=DEFAULT_STRATEGY,
        seed=task.seed, initial=initial, prep=task.prep, atlas=atlas, basis=basis, choice="atlas",
    )  # fmt: skip
    start = sum(initial)
    kappas = [float(score(y, as_labels(atlas.outside(one.cell)))) for one in result.choices]
    points = []
    for count in range(LEAST_LABELS, LAST + 1, STEP):
        if count + AHEAD - start >= len(kappas):
            break
        labels = result.labels.copy()
        labels[result.queries[count - start :]] = 0
        belief = believe(basis, labels)
        believed = believed_share(basis, belief, labels)
        prospect = prospect_of(
            atlas, basis, belief, weigh(atlas, belief, labels),
            np.flatnonzero(labels[basis.panel] == 0),
        )  # fmt: skip
        points.append(
            {
                "labels": count,
                "found": int((labels < 0).sum()),
                "probability": believed.probability,
                "deviation": believed.deviation,
                "possible": 0.0 if prospect is None else prospect.possible(basis, belief),
                "gain": kappas[count + AHEAD - start] - kappas[count - start],
            }
        )
    return {"points": points}
