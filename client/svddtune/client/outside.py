"""The rows that a model calls outliers, with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.shown import Shown
from svddtune.client.types import FloatArray, Verdict

if TYPE_CHECKING:
    from svddtune.client.model import SvddModel


@dataclass(frozen=True, slots=True, repr=False)
class OutsideRow(Shown):
    """One row outside the model's sphere.

    Attributes
    ----------
    row : int
        Position in the data, from 0.
    observation_id : str
        Its id; the row number where the data have no ids.
    score : float
        distance2 - R2 - tolerance, in (0, 4]: the larger, the farther outside.
    label : Verdict or None
        The verdict on the row; None where there is none.
    """

    row: int
    observation_id: str
    score: float
    label: Verdict | None = None


def outside_rows(
    model: SvddModel,
    X: Any,
    ids: Sequence[str] | None = None,
    labels: Mapping[str, Verdict] | None = None,
) -> tuple[OutsideRow, ...]:
    """Return the rows of `X` that `model` calls outliers, the farthest first.

    Parameters
    ----------
    model : SvddModel
        Fitted.
    X : array-like or frame (N, M)
        Raw rows.
    ids : sequence of N str, optional
        Observation ids; default the row numbers.
    labels : mapping, optional
        Verdicts by observation id, to show beside the scores.

    Raises
    ------
    InvalidInput
        `X` does not fit the model, as `SvddModel.scaled`.
    """
    return outside_of(model.decision(X), ids, labels)


def outside_of(
    decision: FloatArray,
    ids: Sequence[str] | None = None,
    labels: Mapping[str, Verdict] | None = None,
) -> tuple[OutsideRow, ...]:
    """Return the rows with a negative decision, shape (N,), see `outside_rows`."""
    rows = np.flatnonzero(decision < 0)
    # A stable sort, so that rows with equal scores keep the order of the data.
    rows = rows[np.argsort(decision[rows], kind="stable")]
    said = labels or {}
    found = []
    for row in rows.tolist():
        observation_id = str(row) if ids is None else ids[row]
        score = -float(decision[row])
        found.append(OutsideRow(row, observation_id, score, said.get(observation_id)))
    return tuple(found)
