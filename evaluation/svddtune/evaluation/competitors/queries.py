"""Labels that others would gather from the same beginning: at random, or by scikit-activeml.

scikit-activeml 1.0 has no query strategy of one-class classification, so two of its strategies for
classifiers ask: uncertainty sampling with logistic regression, and probabilistic active learning
(Kottke et al. 2016) with its Parzen window classifier.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from svddtune.numerics import FloatArray, IndexArray, LabelArray

Deciders = tuple[Any, Any]


def random_labels(known: LabelArray, first: IndexArray, budget: int, seed: int) -> IndexArray:
    """Rows in the order in which they get labels: `first`, then rows with a truth at random."""
    others = np.setdiff1d(np.flatnonzero(known), first)
    drawn = np.random.default_rng([106, seed]).permutation(others)
    return np.concatenate((first, drawn))[:budget]


def _uncertain(seed: int) -> Deciders:
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    decider = SklearnClassifier(
        LogisticRegression(max_iter=1000), classes=[-1, 1], random_state=seed
    )
    return UncertaintySampling(method="least_confident", random_state=seed), decider


def _probabilistic(seed: int) -> Deciders:
    from skactiveml.classifier import ParzenWindowClassifier
    from skactiveml.pool import ProbabilisticAL

    decider = ParzenWindowClassifier(
        classes=[-1, 1], metric_dict={"gamma": "mean"}, random_state=seed
    )
    return ProbabilisticAL(random_state=seed), decider


ACTIVE: dict[str, Callable[[int], Deciders]] = {
    "activeml_uncertainty": _uncertain,
    "activeml_probabilistic": _probabilistic,
}
"""Name -> query strategy and classifier of scikit-activeml, from a seed."""


class Active:
    """A session of scikit-activeml: its queries, and what its classifier decides.

    Parameters
    ----------
    name : str
        Of `ACTIVE`.
    X : FloatArray, shape (N, M)
        Observations, finite; standardised here.
    seed : int
        Of strategy and classifier.
    """

    def __init__(self, name: str, X: FloatArray, seed: int) -> None:
        self._strategy, self._decider = ACTIVE[name](seed)
        self._Z = StandardScaler().fit_transform(X)

    def ask(self, known: LabelArray, first: IndexArray, budget: int) -> IndexArray:
        """Rows in the order in which they get labels: `first`, then the strategy's queries."""
        rows, given = first.tolist(), np.full(len(known), np.nan)
        given[first] = known[first]
        askable = set(np.flatnonzero(known).tolist()) - set(rows)
        while len(rows) < budget and askable:
            arguments: dict[str, Any] = {"fit_clf": True, "candidates": np.array(sorted(askable))}
            (row,) = self._strategy.query(self._Z, given, self._decider, **arguments).tolist()
            rows.append(row)
            askable.remove(row)
            given[row] = known[row]
        return np.array(rows, dtype=np.int64)

    def decide(self, labels: LabelArray) -> LabelArray:
        """Decisions of its classifier about all rows, shape (N,)."""
        given = np.where(labels != 0, labels, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(self._decider.fit(self._Z, given).predict(self._Z), dtype=np.int8)
