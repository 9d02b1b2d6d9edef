"""The arguments of `tune`, checked and in one form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.frames import Features, read_features
from svddtune.client.inputs.ids import observation_ids
from svddtune.client.oracles import KnownLabels, Oracle


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Features with names, the ids of the rows, and the oracle."""

    features: Features
    ids: list[str]
    oracle: Oracle


def read_inputs(
    X: Any,
    oracle: object,
    *,
    ids: Iterable[object] | None = None,
    feature_names: Iterable[str] | None = None,
    outlier_value: object = None,
) -> Inputs:
    """Return checked inputs.

    Raises
    ------
    InvalidInput
        As `read_features`, `observation_ids` and `KnownLabels`; INDEX_MISMATCH where labels or ids
        are a series whose index is not that of the frame X.
    """
    features = read_features(X, feature_names)
    _check_index(X, ids, "ids")
    checked_ids = observation_ids(ids, len(features.rows))
    if callable(oracle):
        if outlier_value is not None:
            raise InvalidInput(
                "outlier_value applies to labels, but the oracle is a function: give labels, or "
                "KnownLabels(labels, outlier_value=...)",
                metadata={"field": "outlier_value", "value": repr(outlier_value)},
            )
        return Inputs(features, checked_ids, oracle)
    _check_index(X, oracle, "labels")
    known = KnownLabels(oracle, outlier_value=outlier_value)
    return Inputs(features, checked_ids, known)


def _check_index(X: Any, other: Any, what: str) -> None:
    """Refuse a series that would be matched by position with rows of another index."""
    index: Any = getattr(other, "index", None)
    own: Any = getattr(X, "index", None)
    if not hasattr(X, "columns") or not hasattr(index, "equals") or not hasattr(own, "equals"):
        return
    if not own.equals(index):
        raise InvalidInput(
            f"{what} and X have different indexes; rows are matched by position. "
            f"Give {what}.loc[X.index], or {what}.to_numpy() if the order is the same",
            reason="INDEX_MISMATCH",
            metadata={"field": what},
        )
