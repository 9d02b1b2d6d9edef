"""Score every cell of the atlas, and choose one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import Belief, BeliefBasis, Vote, believe
from svddtune.numerics.grid import choose_c, tells_apart
from svddtune.numerics.scores import (
    Confusion,
    Metric,
    bootstrap_interval,
    class_counts,
    score,
    score_counts,
)
from svddtune.numerics.types import FloatArray, IndexArray, LabelArray, as_labels, labelled_rows

Criterion = Literal["evidence", "labels"]
Reason = Literal["both_classes", "no_label", "no_outlier", "no_inlier"]

CRITERIA: tuple[Criterion, ...] = ("evidence", "labels")
EXPECTED_WEIGHT = 3.0

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Evidence:
    """Scores of all cells, each of shape (cells,).

    Attributes
    ----------
    on_labels : FloatArray
        Score on the labelled rows; where labels may be wrong, against the probabilities that the
        belief gives these rows.
    expected : FloatArray
        Score over all rows, against the believed probabilities. Soft labels shrink it, so it
        ranks cells well and says less than the truth about each.
    combined : FloatArray
        on_labels + `EXPECTED_WEIGHT` * expected.
    """

    on_labels: FloatArray
    expected: FloatArray
    combined: FloatArray


@dataclass(frozen=True, slots=True)
class LiveChoice:
    """The best cell by the labels so far.

    Attributes
    ----------
    cell : int
        In the atlas.
    scaling : str
        Kind of the cell's representation.
    gamma, C : float
    outliers : int
        Rows of the data that the cell calls outliers.
    on_labels : float
        Score on the labelled rows. Optimistic: the cell was chosen on them, and queries favour
        contested rows.
    expected : float
        Expected score over all rows. Pessimistic.
    interval : tuple of float
        Of `on_labels`, over resamples of the labels: how much single labels matter.
    plateau : int
        Cells that share the best value of the criterion.
    labels : int
        Labels it rests on.
    reason : {"both_classes", "no_label", "no_outlier", "no_inlier"}
        Classes seen so far. Without both, the labels cannot rank the cells, and the choice rests
        on what the cells agree about.
    """

    cell: int
    scaling: str
    gamma: float
    C: float
    outliers: int
    on_labels: float
    expected: float
    interval: tuple[float, float]
    plateau: int
    labels: int
    reason: Reason


def classes_seen(labels: LabelArray) -> Reason:
    """Which classes have labels."""
    inliers, outliers = class_counts(labels)
    if inliers and outliers:
        return "both_classes"
    if inliers:
        return "no_outlier"
    return "no_inlier" if outliers else "no_label"


def weigh(
    atlas: Atlas, belief: Belief, labels: LabelArray, *, metric: Metric = "kappa"
) -> Evidence:
    """Score every cell on the labels and against the belief.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    belief : Belief
        Given the same labels.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score of a classification on the labelled rows.

    Returns
    -------
    Evidence
    """
    rows = labelled_rows(labels)
    called, known = atlas.count_outside(rows), belief.labelled[rows]
    certain = bool(np.isin(known, (0.0, 1.0)).all())
    outliers = atlas.count_outside(rows[known > 0.0]) if certain else atlas.sum_outside(rows, known)
    on_labels = score_counts(_soft(outliers, called, float(known.sum()), len(rows)), metric)
    weights = atlas.sample.weights
    q = belief.verdict * weights
    found = (atlas.panel @ q.astype(np.float32)).astype(np.float64)
    soft = _soft(found, atlas.panel_sizes, float(q.sum()), float(weights.sum()))
    expected = score_counts(soft, metric)
    return Evidence(on_labels, expected, on_labels + EXPECTED_WEIGHT * expected)


def prior_vote(atlas: Atlas, labels: LabelArray) -> Vote | None:
    """The atlas's vote, which is the belief's prior while a class has no label."""
    return None if classes_seen(labels) == "both_classes" else atlas.vote


def check_panels(atlas: Atlas, basis: BeliefBasis) -> None:
    """Raise ValueError where the cells would be weighed on other rows than those of the belief."""
    sample = atlas.sample
    same = np.array_equal(sample.rows, basis.panel)
    if not (same and np.array_equal(sample.weights, basis.weights)):
        raise ValueError("atlas and basis have different panels: call atlas.on with the survey's")


def choose_cell(
    atlas: Atlas,
    basis: BeliefBasis,
    labels: LabelArray,
    *,
    criterion: Criterion = "evidence",
    metric: Metric = "kappa",
    certainty: FloatArray | None = None,
) -> LiveChoice:
    """Choose the representation, gamma and C together.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    basis : BeliefBasis
        Of the same data.
    labels : LabelArray, shape (N,)
        Any labels, none included.
    criterion : {"evidence", "labels"}
        The largest combined evidence, or the best score on the labels alone (only with labels of
        both classes; otherwise the evidence decides). The middle of the ties is taken.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score of a classification on the labelled rows.
    certainty : FloatArray, shape (N,), optional
        As in `believe`.

    Returns
    -------
    LiveChoice
    """
    evidence = evidence_of(atlas, basis, labels, metric=metric, certainty=certainty)
    return pick(atlas, evidence, labels, criterion=criterion, metric=metric)


def evidence_of(
    atlas: Atlas,
    basis: BeliefBasis,
    labels: LabelArray,
    *,
    metric: Metric = "kappa",
    certainty: FloatArray | None = None,
) -> Evidence:
    """Score every cell, given labels alone; parameters as in `choose_cell`."""
    check_panels(atlas, basis)
    belief = believe(basis, labels, vote=prior_vote(atlas, labels), certainty=certainty)
    return weigh(atlas, belief, labels, metric=metric)


def pick(
    atlas: Atlas,
    evidence: Evidence,
    labels: LabelArray,
    *,
    criterion: Criterion = "evidence",
    metric: Metric = "kappa",
) -> LiveChoice:
    """Choose as `choose_cell` does, from evidence that is known already.

    Raises
    ------
    ValueError
        If `criterion` is unknown.
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion is {criterion!r}, expected one of {CRITERIA}")
    reason = classes_seen(labels)
    by_labels = criterion == "labels" and reason == "both_classes"
    value = evidence.on_labels if by_labels else evidence.combined
    value = np.where(tells_apart(atlas.outliers, atlas.N), value, -np.inf)
    ties = np.flatnonzero(value >= value.max() - _TIE)
    cell = int(ties[len(ties) // 2])
    rows = labelled_rows(labels)
    predicted = as_labels(atlas.calls(cell, rows))
    interval = bootstrap_interval(labels[rows], predicted, metric, rng=np.random.default_rng(0))
    return LiveChoice(
        cell=cell,
        scaling=str(atlas.scaling[cell]),
        gamma=float(atlas.gamma[cell]),
        C=float(atlas.C[cell]),
        outliers=int(atlas.outliers[cell]),
        on_labels=float(score(labels[rows], predicted, metric)),
        expected=float(evidence.expected[cell]),
        interval=interval,
        plateau=len(ties),
        labels=len(rows),
        reason=reason,
    )


def final_cell(atlas: Atlas, choice: LiveChoice, labels: LabelArray) -> int:
    """The cell that a session ends with.

    Parameters
    ----------
    atlas : Atlas
        Fitted cells.
    choice : LiveChoice
        On these labels.
    labels : LabelArray, shape (N,)
        The oracle's labels.

    Returns
    -------
    int
        The choice's own cell. Where all labels are of one class, the evidence speaks for a
        representation and a gamma, but no label for a C: then the cell of these by
        `grid.choose_c`.
    """
    if choice.reason in ("both_classes", "no_label"):
        return choice.cell
    column = atlas.column(choice.scaling, choice.gamma)
    rows = labelled_rows(labels)
    predictions = np.zeros((len(column), len(labels)), dtype=np.int8)
    predictions[:, rows] = as_labels(atlas.outside_at(rows)[column])
    scores = np.zeros(len(column))
    return int(column[choose_c(labels, predictions, scores, atlas.outliers[column])])


def predicted_labels(
    choice: LiveChoice | None, atlas: Atlas | None, rows: IndexArray
) -> LabelArray:
    """Predictions of the live choice.

    Parameters
    ----------
    choice : LiveChoice or None
        None where there is none yet.
    atlas : Atlas or None
        That the choice was made from.
    rows : IndexArray, shape (n,)
        Rows to predict, 0-based.

    Returns
    -------
    LabelArray, shape (n,)
        +1 or -1; 0 without a choice or an atlas.
    """
    rows = np.asarray(rows, dtype=np.int64)
    if choice is None or atlas is None:
        return np.zeros(len(rows), dtype=np.int8)
    return as_labels(atlas.calls(choice.cell, rows))


def _soft(found: FloatArray, called: FloatArray, outliers: float, rows: float) -> Confusion:
    """Expected counts of cells that call `called` rows outliers and find `found`."""
    rejected = called - found
    return Confusion(found, outliers - found, rejected, rows - outliers - rejected)
