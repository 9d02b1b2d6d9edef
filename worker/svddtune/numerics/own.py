"""Query strategies and representations of other packages: what they get, and what they return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import BeliefBasis
from svddtune.numerics.preparation import Preparation
from svddtune.numerics.scores import Metric
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray, LabelArray
from svddtune.representation import Representation


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """All that a query strategy may know when it ranks rows.

    Its arrays are shared: a strategy must not change them.

    Attributes
    ----------
    X : FloatArray, shape (N, M)
        Observations as the method sees them, in the base representation.
    labels : LabelArray, shape (N,)
        The oracle's labels: +1 inlier, -1 outlier, 0 none.
    excluded : IndexArray
        Rows that must not be asked about: leased to labelers, or dropped.
    open_rows : IndexArray
        Rows of queries that wait for an answer; not to be asked about either. A ranking should
        assume that their labels are on their way.
    reserve : int
        Largest number of ranked rows that are of use.
    rng : np.random.Generator
        The only source of randomness.
    k : int
        Locality: nearest neighbours that a label is spread to, the row included.
    sample : int
        Candidates that "lama" draws; a strategy may use it likewise.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score of the session.
    prep : Preparation
        Of `X`, or above `SAMPLED_ABOVE` rows of the panel alone: ``prep.near(rows, k)`` are the
        nearest neighbours of rows.
    atlas : Atlas
        The fitted models, of which the labels choose one.
    basis : BeliefBasis
        For `svddtune.numerics.believe`, which makes probabilities of the labels.
    """

    X: FloatArray
    labels: LabelArray
    excluded: IndexArray
    open_rows: IndexArray
    reserve: int
    rng: np.random.Generator
    k: int
    sample: int
    metric: Metric
    prep: Preparation
    atlas: Atlas
    basis: BeliefBasis

    @property
    def askable(self) -> BoolArray:
        """Which rows may be asked about, shape (N,): unlabelled, not excluded, not open."""
        askable: BoolArray = self.labels == 0
        askable[self.excluded] = False
        askable[self.open_rows] = False
        return askable


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """A ranking of rows.

    Attributes
    ----------
    rows : IndexArray, shape (n,)
        Askable rows, the one to ask about first in front, each once; n is at most the reserve, and
        at least 1 where a row is askable.
    scores : FloatArray, shape (n,)
        What they are ranked by, finite; shown to labelers.
    """

    rows: IndexArray
    scores: FloatArray


class QueryStrategy(Protocol):
    """A rule that chooses the next query. gamma and C are then those with the most evidence.

    It has no state: the same situation, with a generator in the same state, gives the same ranking
    in every process, or sessions could not be resumed.
    """

    def __call__(self, situation: Situation) -> Ranked:
        """Rank the rows that are worth a label."""
        ...


class StrategyFault(ValueError):
    """A query strategy returned a ranking that cannot be used."""


def rank_by(strategy: QueryStrategy, situation: Situation) -> Ranked:
    """Rank by a strategy and check what it returns.

    Parameters
    ----------
    strategy : QueryStrategy
        Whose ranking it is.
    situation : Situation
        What it is given.

    Returns
    -------
    Ranked
        rows are int64, scores float64.

    Raises
    ------
    StrategyFault
        The ranking has a row that must not be asked about, has one twice, has no row though there
        are some to ask about, has more than the reserve, or its scores do not fit.
    """
    found = strategy(situation)
    if not isinstance(found, Ranked):
        raise _fault(strategy, f"returned {type(found).__name__}, expected Ranked")
    rows, scores = np.asarray(found.rows), np.asarray(found.scores, dtype=np.float64)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise _fault(strategy, f"rows are {rows.dtype} of shape {rows.shape}, expected integers")
    if scores.shape != rows.shape or not np.isfinite(scores).all():
        raise _fault(strategy, f"scores are not {len(rows)} finite numbers, one for each row")
    N, askable = len(situation.labels), situation.askable
    wrong = [row for row in rows.tolist() if not 0 <= row < N or not askable[row]]
    if wrong:
        raise _fault(strategy, f"row {wrong[0]} must not be asked about")
    if len(np.unique(rows)) < len(rows):
        raise _fault(strategy, "a row is ranked twice")
    if len(rows) > situation.reserve:
        raise _fault(strategy, f"{len(rows)} rows are ranked, at most {situation.reserve} wanted")
    if len(rows) == 0 and askable.any():
        raise _fault(strategy, f"no row is ranked, but {askable.sum()} may be asked about")
    return Ranked(rows.astype(np.int64), scores)


def _fault(strategy: QueryStrategy, what: str) -> StrategyFault:
    name = getattr(strategy, "__qualname__", type(strategy).__qualname__)
    return StrategyFault(f"query strategy {name}: {what}")


class FitRepresentation(Protocol):
    """A rule that fits a representation: how raw columns become what the kernel sees.

    It draws nothing: the same rows give the same representation in every process.
    """

    def __call__(self, X: FloatArray) -> Representation:
        """Measure the columns of finite rows, shape (N, M) with N >= 1."""
        ...


class RepresentationFault(ValueError):
    """A rule returned a representation that cannot be used."""


def fit_own(fit: FitRepresentation, X: FloatArray, kind: str) -> Representation:
    """Fit a representation of another package and check it.

    Parameters
    ----------
    fit : FitRepresentation
        The rule.
    X : FloatArray, shape (N, M)
        Observations in the units of the columns, finite.
    kind : str
        Under which name models keep it.

    Returns
    -------
    Representation

    Raises
    ------
    RepresentationFault
        It is no representation of these columns, or maps the rows to no finite numbers.
    """
    found = fit(X)
    if not isinstance(found, Representation):
        raise RepresentationFault(
            f"representation {kind}: {type(found).__name__} returned, expected Representation"
        )
    if len(found.offset) != X.shape[1]:
        raise RepresentationFault(
            f"representation {kind}: it has {len(found.offset)} columns, expected {X.shape[1]}"
        )
    named = replace(found, kind=kind)
    if not np.isfinite(named.apply(X)).all():
        raise RepresentationFault(f"representation {kind}: a fitted row is mapped to no number")
    return named
