"""Initial labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.ids import by_id, unknown_observation
from svddtune.client.oracles import KnownLabels
from svddtune.client.types import LabelEvent, Verdict

DEFAULT_INITIAL = (2, 2)


def initial_labels(
    initial: object,
    oracle: object,
    ids: Sequence[str],
    *,
    seed: int,
    without: Collection[str] = (),
) -> dict[str, Verdict]:
    """Return verdicts by observation id for the argument `initial`.

    A mapping is used as it is. A pair (inliers, outliers) is drawn from the oracle's known labels,
    but for those of the observations `without`. None means (2, 2) where the oracle knows labels,
    else no initial labels.
    """
    if initial is None:
        initial = DEFAULT_INITIAL if isinstance(oracle, KnownLabels) else {}
    if isinstance(initial, Mapping):
        given = {key: Verdict.of(value) for key, value in by_id(initial).items()}
        there = set(ids)
        for observation_id in given:
            if observation_id not in there:
                raise unknown_observation(observation_id, ids)
        return given
    if not (isinstance(initial, tuple | list) and len(initial) == 2):
        raise InvalidInput(
            f"initial = {initial!r} is neither a mapping of observation ids to verdicts "
            "nor a pair (inliers, outliers)"
        )
    if not isinstance(oracle, KnownLabels):
        raise InvalidInput(
            f"initial = {initial!r} draws from known labels, but the oracle is a function; give "
            f"a mapping of observation ids to verdicts instead"
        )
    for count in initial:
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise InvalidInput(
                f"initial = {initial!r} holds {count!r}: both must be whole numbers, 0 or more",
                metadata={"field": "initial", "value": repr(initial)},
            )
    counts = [int(count) for count in initial]
    known = oracle.verdicts(ids)
    known = {row: verdict for row, verdict in known.items() if ids[row] not in without}
    return {ids[row]: verdict for row, verdict in draw(known, counts, seed).items()}


def taken_labels(events: Iterable[LabelEvent]) -> dict[str, Verdict]:
    """Return the labels that a session took over from another, from its label log."""
    balance: dict[str, int] = {}
    for event in events:
        if event.origin and event.verdict is not None:
            sign = event.verdict.sign
            balance[event.observation_id] = balance.get(event.observation_id, 0) + sign
    return {key: Verdict.of(1 if sign > 0 else -1) for key, sign in balance.items()}


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
