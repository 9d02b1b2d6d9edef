"""Labels to start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.oracles import KnownLabels
from svddtune.client.types import Verdict

DEFAULT_INITIAL = (2, 2)


def initial_labels(
    initial: object, oracle: object, ids: Sequence[str], *, seed: int
) -> dict[str, Verdict]:
    """Return observation id -> verdict for what a caller gave as `initial`.

    A mapping is taken as it is; a pair (inliers, outliers) is drawn from the oracle's known
    labels; None means (2, 2) where the oracle knows labels, else none.
    """
    if initial is None:
        initial = DEFAULT_INITIAL if isinstance(oracle, KnownLabels) else {}
    if isinstance(initial, Mapping):
        return {str(key): Verdict.of(value) for key, value in initial.items()}
    if not (isinstance(initial, tuple | list) and len(initial) == 2):
        raise InvalidInput(
            f"initial = {initial!r} is neither a mapping of observation ids to verdicts "
            "nor a pair (inliers, outliers)"
        )
    if not isinstance(oracle, KnownLabels):
        raise InvalidInput(
            f"initial = {initial!r} needs an oracle of known labels to draw from; "
            "give a mapping of observation ids to verdicts instead"
        )
    counts = [int(count) for count in initial]
    return {ids[row]: verdict for row, verdict in draw(oracle.verdicts(ids), counts, seed).items()}


def draw(known: Mapping[int, Verdict], counts: Sequence[int], seed: int) -> dict[int, Verdict]:
    """Draw rows of each class, inliers first, by the seed; fewer where a class has fewer."""
    rng = np.random.default_rng(seed)
    drawn: dict[int, Verdict] = {}
    for verdict, count in zip((Verdict.INLIER, Verdict.OUTLIER), counts, strict=True):
        rows = sorted(row for row, given in known.items() if given is verdict)
        if rows:
            chosen = rng.choice(rows, min(count, len(rows)), replace=False)
            drawn.update({int(row): verdict for row in chosen})
    return drawn
