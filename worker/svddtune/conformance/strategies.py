"""What every query strategy promises, as tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from svddtune import numerics
from svddtune.numerics import (
    FloatArray,
    IndexArray,
    LabelArray,
    QueryStrategy,
    Ranked,
    Situation,
    Strategy,
    rank_by,
)

_NO_ROWS = np.empty(0, dtype=np.int64)
_K = 5
_LABELLED = 6  # rows that have a label in the states with labels
_SEED = 7


def built_in(name: Strategy) -> QueryStrategy:
    """Return one of svddtune's own strategies as a `QueryStrategy`.

    Parameters
    ----------
    name : str
        One of `svddtune.numerics.STRATEGIES`.
    """

    def strategy(situation: Situation) -> Ranked:
        found = numerics.suggest(
            situation.prep,
            situation.X,
            situation.labels,
            k=situation.k,
            strategy=name,
            sample=situation.sample,
            rng=situation.rng,
            exclude=situation.excluded,
            open_rows=situation.open_rows,
            reserve=situation.reserve,
            atlas=situation.atlas,
            basis=situation.basis,
            metric=situation.metric,
        )
        return Ranked(found.rows, found.scores)

    return strategy


class StrategyConformance:
    """The tests; a subclass whose name begins with Test sets `strategy`.

    Attributes
    ----------
    strategy : QueryStrategy
        As ``staticmethod(function)`` where it is a function.
    scale_invariant : bool
        Whether the strategy promises the same ranking for all columns multiplied by one number.
        Default False.
    """

    strategy: Any
    scale_invariant: ClassVar[bool] = False

    def test_ranking_is_usable_in_every_state(self) -> None:
        """Askable rows only, each once, no more than the reserve, and some where there are some."""
        for case in _cases():
            rank_by(self.strategy, case.situation())

    def test_same_seed_gives_same_ranking(self) -> None:
        """The generator of the situation is the only source of randomness."""
        for case in _cases():
            first, again = (self.strategy(case.situation()) for _ in range(2))
            assert np.array_equal(first.rows, again.rows), f"{case.name}: other rows"
            assert np.array_equal(first.scores, again.scores), f"{case.name}: other scores"

    def test_arrays_of_situation_stay_as_they_are(self) -> None:
        """They belong to others too."""
        for case in _cases():
            situation = case.situation()
            before = [np.array(getattr(situation, name)) for name in _ARRAYS]
            self.strategy(situation)
            for name, value in zip(_ARRAYS, before, strict=True):
                assert np.array_equal(getattr(situation, name), value), f"{case.name}: {name}"

    def test_session_asks_about_every_row_once(self) -> None:
        """Until no row is left, whatever the answers are."""
        for name, X in _datasets().items():
            if len(X) > _MOST_ROWS_ASKED:
                continue
            for answers in (1, -1, None):
                labels = np.zeros(len(X), dtype=np.int8)
                base = _prepared(name)
                for asked in range(len(X)):
                    situation = replace(
                        base, labels=labels.copy(), rng=np.random.default_rng([_SEED, asked])
                    )
                    row = int(rank_by(self.strategy, situation).rows[0])
                    labels[row] = answers or (-1 if row % 3 == 0 else 1)
                last = replace(base, labels=labels, rng=np.random.default_rng(_SEED))
                assert len(rank_by(self.strategy, last).rows) == 0, name

    def test_scale_of_data_does_not_matter(self) -> None:
        """Where `scale_invariant` promises it."""
        if not self.scale_invariant:
            return
        for case in _cases():
            ranked = self.strategy(case.situation())
            scaled = self.strategy(case.situation(scale=_SCALE))
            assert np.array_equal(ranked.rows, scaled.rows), case.name


_ARRAYS = ("X", "labels", "excluded", "open_rows")
_MOST_ROWS_ASKED = 12
_SCALE = 1024.0  # a power of two: no digit changes


@dataclass(frozen=True)
class _Case:
    """A dataset in a state: which rows have labels, are open or excluded."""

    name: str
    dataset: str
    labels: LabelArray
    open_rows: IndexArray
    excluded: IndexArray
    reserve: int

    def situation(self, scale: float = 1.0) -> Situation:
        """Return it with a fresh generator."""
        return replace(
            _prepared(self.dataset, scale),
            labels=self.labels.copy(),
            open_rows=self.open_rows,
            excluded=self.excluded,
            reserve=self.reserve,
            rng=np.random.default_rng(_SEED),
        )


@cache
def _datasets() -> dict[str, FloatArray]:
    rng = np.random.default_rng(_SEED)
    normal = rng.normal(size=(40, 3))
    outlying = np.where(np.arange(40)[:, None] % 8 == 0, 4.0, 1.0) * normal
    return {
        "one row": np.ones((1, 2)),
        "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "three equal rows": np.full((3, 2), 0.5),
        "eleven rows": rng.normal(size=(11, 2)),
        "equal rows": np.repeat(np.eye(3), 4, axis=0),
        "outliers on all sides": outlying,
        "a constant column": np.column_stack((outlying[:, 0], np.ones(40))),
        "few integers": rng.integers(0, 3, size=(40, 4)).astype(np.float64),
        "a heavy tail": rng.standard_cauchy(size=(40, 2)),
    }


@cache
def _prepared(name: str, scale: float = 1.0) -> Situation:
    X = _datasets()[name] * scale
    prep = numerics.prepare(X, k=_K)
    return Situation(
        X=X,
        labels=np.zeros(len(X), dtype=np.int8),
        excluded=_NO_ROWS,
        open_rows=_NO_ROWS,
        reserve=16,
        rng=np.random.default_rng(_SEED),
        k=_K,
        sample=100,
        metric="kappa",
        prep=prep,
        atlas=numerics.fit_atlas(X, prep.gamma_bounds),
        basis=numerics.belief_basis(X),
    )


_STATES: dict[str, Callable[[int], int]] = {
    "no label": lambda place: 0,
    "inliers": lambda place: 1,
    "outliers": lambda place: -1,
    "both classes": lambda place: -1 if place % 2 == 0 else 1,
}


@cache
def _all_cases() -> tuple[_Case, ...]:
    cases = []
    for dataset, X in _datasets().items():
        N = len(X)
        order = np.random.default_rng(_SEED).permutation(N)
        for state, label in _STATES.items():
            labels = np.zeros(N, dtype=np.int8)
            given = 0 if state == "no label" else min(_LABELLED, N)
            labels[order[:given]] = [label(place) for place in range(given)]
            rest = order[given:]
            for waiting, open_rows, excluded in (
                ("nothing open", _NO_ROWS, _NO_ROWS),
                ("open and excluded rows", rest[:2], rest[2:5]),
                ("every row open", rest, _NO_ROWS),
            ):
                cases += [
                    _Case(
                        f"{dataset}, {state}, {waiting}, reserve {reserve}",
                        dataset,
                        labels,
                        open_rows,
                        excluded,
                        reserve,
                    )
                    for reserve in (1, 5, 100)
                ]
    return tuple(cases)


def _cases() -> Iterator[_Case]:
    return iter(_all_cases())
