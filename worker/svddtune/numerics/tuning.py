"""The whole method in one process: draw initial labels, query, choose gamma and C, fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from svddtune.numerics.alignment import (
    AlignmentCurve,
    LocalAlignment,
    best_gamma,
    coarse_grid,
    local_alignment,
)
from svddtune.numerics.atlas import Atlas
from svddtune.numerics.belief import BeliefBasis, belief_basis
from svddtune.numerics.evidence import Criterion, LiveChoice, choose_cell, final_cell
from svddtune.numerics.grid import Cell, CellFits, Spacing, TieRule, choose_c, fit_cells
from svddtune.numerics.lattice import fit_atlas
from svddtune.numerics.mapped import SAMPLED_ABOVE
from svddtune.numerics.own import QueryStrategy
from svddtune.numerics.panel import PANEL_ROWS, Panel, panel_rows
from svddtune.numerics.preparation import Preparation, prepare
from svddtune.numerics.query import ATLAS_STRATEGIES, Strategy, suggest
from svddtune.numerics.refined.basis import refined_basis
from svddtune.numerics.scores import Metric, class_counts, score
from svddtune.numerics.svdd import SvddModel, fit, nu_from_c
from svddtune.numerics.tau import TauRule
from svddtune.numerics.types import FloatArray, IndexArray, LabelArray, as_labels
from svddtune.numerics.views import AUTO, Views
from svddtune.representation import Representation

Oracle = Callable[[int], int | None]
"""From a row to +1, -1, 0 (not known: the row is not asked about again) or None (ask no more)."""

_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FinalChoice:
    """What the labels choose: representation, gamma and C, and the model.

    Attributes
    ----------
    representation : Representation
        From raw rows to those of the model.
    gamma : float
    alignment : float or None
        At `gamma`; None where a class has no label and gamma is the default, and where the
        representation is not the one that alignments are computed in.
    curve : AlignmentCurve or None
        Alignment over the coarse grid; None where a class has no label.
    cells : tuple of Cell
        In the order of C.
    chosen : int
        Index in `cells`.
    model : SvddModel
    predictions : LabelArray, shape (N,)
        +1 inside, -1 outside, of the chosen model.
    sample_size : int or None
        Rows of the sample that the kernel means come from; None when they come from all rows.
    """

    representation: Representation
    gamma: float
    alignment: float | None
    curve: AlignmentCurve | None
    cells: tuple[Cell, ...]
    chosen: int
    model: SvddModel
    predictions: LabelArray
    sample_size: int | None

    @property
    def scaling(self) -> str:
        """Kind of the representation."""
        return self.representation.kind


@dataclass(frozen=True, slots=True)
class TuningResult:
    """A finished session.

    Attributes
    ----------
    final : FinalChoice
    labels : LabelArray, shape (N,)
        The oracle's labels.
    queries : IndexArray, shape (Q,)
        Rows asked about, in order; the initial labels are not among them.
    gammas : FloatArray, shape (Q,)
        gamma_opt at each query; of the live choice with an atlas strategy.
    choices : tuple of LiveChoice, length Q + 1
        With an atlas: the live choice before each query, and the last. Empty otherwise.
    """

    final: FinalChoice
    labels: LabelArray
    queries: IndexArray
    gammas: FloatArray
    choices: tuple[LiveChoice, ...] = ()


def query_rng(seed: int, rev: int, n_queries: int) -> np.random.Generator:
    """Make the generator of one suggestion.

    Parameters
    ----------
    seed : int
        Of the session.
    rev : int
        Label events so far, initial labels included.
    n_queries : int
        Queries issued so far.

    Returns
    -------
    np.random.Generator
        The same for the same history, whichever process asks.
    """
    return np.random.default_rng([seed, rev, n_queries])


def draw_initial(labels: LabelArray, n_in: int, n_out: int, seed: int) -> IndexArray:
    """Draw the initial pool from known labels, the paper's 2 + 2.

    Parameters
    ----------
    labels : LabelArray, shape (N,)
        Truth.
    n_in, n_out : int
        Inliers and outliers to draw.
    seed : int
        Seed of the draw.

    Returns
    -------
    IndexArray, shape (n_in + n_out,)
        Inliers first.

    Raises
    ------
    ValueError
        If a class has fewer rows than are to be drawn.

    Notes
    -----
    ``rng = default_rng(seed)``, then ``rng.choice(rows, n, replace=False)`` on the ascending
    inlier rows and after it on the ascending outlier rows.
    """
    rng = np.random.default_rng(seed)
    drawn = []
    for name, label, n in (("inliers", 1, n_in), ("outliers", -1, n_out)):
        rows = np.flatnonzero(labels == label)
        if not 0 <= n <= len(rows):
            raise ValueError(f"initial {name} are {n}, expected 0 to {len(rows)}")
        drawn.append(rng.choice(rows, n, replace=False))
    return np.concatenate(drawn)


def finish(
    prep: Preparation,
    data: FloatArray | Views,
    labels: LabelArray,
    *,
    k: int,
    cells: int = 20,
    spacing: Spacing = "linear",
    metric: Metric = "kappa",
    rule: TieRule = "plateau",
    seed: int = 0,
) -> FinalChoice:
    """Choose gamma, then C, and fit, in the base representation.

    Parameters
    ----------
    prep : Preparation
        Of the rows in the base representation.
    data : Views, or FloatArray of shape (N, M)
        Observations, finite; an array's rows are taken as they are.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    k : int
        Locality.
    cells : int
        Steps of the C grid.
    spacing : {"linear", "geometric"}
        Spacing of the C grid.
    metric : {"kappa", "mcc", "f1", "balanced_accuracy"}
        Score by which C is chosen.
    rule : {"plateau", "first"}
        Which of several best cells is taken; as in `choose`.
    seed : int
        Draws the sub-sample above `solver.FIT_LIMIT` rows.

    Returns
    -------
    FinalChoice
    """
    views = Views.of(data)
    X = views.X
    gamma, value, curve = prep.default_gamma, None, None
    if min(class_counts(labels)) > 0:
        local: LocalAlignment = local_alignment(prep, X, labels, k=k)
        gamma, value = best_gamma(local, prep.gamma_bounds)
        grid = coarse_grid(prep.gamma_bounds)
        curve = AlignmentCurve(grid, local(grid))
    fits = fit_cells(X, gamma=gamma, steps=cells, spacing=spacing, seed=seed)
    scored = score_cells(fits, labels, metric=metric)
    chosen = choose_c(
        labels,
        fits.predictions(),
        np.array([cell.score for cell in scored]),
        np.array([cell.outliers for cell in scored]),
        rule=rule,
    )
    return FinalChoice(
        representation=views.representation(views.base),
        gamma=gamma,
        alignment=value,
        curve=curve,
        cells=scored,
        chosen=chosen,
        model=fits.models[chosen],
        predictions=fits.predictions()[chosen],
        sample_size=prep.sample_size,
    )


def finish_with_atlas(
    prep: Preparation,
    data: FloatArray | Views,
    labels: LabelArray,
    atlas: Atlas,
    basis: BeliefBasis,
    *,
    k: int,
    criterion: Criterion = "evidence",
    metric: Metric = "kappa",
    seed: int = 0,
    certainty: FloatArray | None = None,
) -> FinalChoice:
    """Choose the representation, gamma and C together from the atlas, and fit.

    Parameters
    ----------
    prep : Preparation
        Of the rows in the base representation.
    data : Views, or FloatArray of shape (N, M)
        Observations, finite; an array's rows are taken as they are.
    labels : LabelArray, shape (N,)
        The oracle's labels.
    atlas : Atlas
        Of the data.
    basis : BeliefBasis
        Likewise.
    k : int
        Locality of the alignment that is reported beside the choice.
    criterion, metric
        As in `choose_cell`.
    seed : int
        Draws the sub-sample above `solver.FIT_LIMIT` rows; the atlas's, or the model differs.
    certainty : FloatArray, shape (N,), optional
        As in `believe`.

    Returns
    -------
    FinalChoice
        Its cells are those of the chosen representation and gamma. `choose_cell` tells why this
        one, and `final_cell` what becomes of it without labels of both classes.
    """
    views = Views.of(data)
    choice = choose_cell(
        atlas, basis, labels, criterion=criterion, metric=metric, certainty=certainty
    )
    final = final_cell(atlas, choice, labels)
    value, curve = None, None
    if choice.reason == "both_classes" and prep.rows is None:
        local = local_alignment(prep, views.X, labels, k=k)
        grid = coarse_grid(prep.gamma_bounds)
        curve = AlignmentCurve(grid, local(grid))
        if choice.scaling == views.base:
            value = float(local(np.array([choice.gamma]))[0])
    column = atlas.column(choice.scaling, choice.gamma)
    rows = np.flatnonzero(labels)
    outside = atlas.outside_at(rows)[column]
    scores = score(labels[rows], as_labels(outside), metric)
    chosen_rows = views.rows(choice.scaling)
    model = fit(chosen_rows, gamma=choice.gamma, C=float(atlas.C[final]), seed=seed)
    return FinalChoice(
        representation=views.representation(choice.scaling),
        gamma=choice.gamma,
        alignment=value,
        curve=curve,
        cells=tuple(
            Cell(
                choice.gamma,
                float(atlas.C[cell]),
                nu_from_c(float(atlas.C[cell]), atlas.N),
                float(atlas.R2[cell]),
                int(atlas.outliers[cell]),
                float(quality),
            )
            for cell, quality in zip(column, scores, strict=True)
        ),
        chosen=int(np.flatnonzero(column == final)[0]),
        model=model,
        predictions=as_labels(model.outside(chosen_rows)),
        sample_size=prep.sample_size,
    )


def _basis(views: Views) -> BeliefBasis:
    """What the belief needs of the data, with a survey where the panel does not hold all rows."""
    survey = refined_basis(views).survey(views.raw) if len(views) > PANEL_ROWS else None
    return belief_basis(views.rows(views.belief), survey=survey)


def score_cells(
    fits: CellFits, labels: LabelArray, *, metric: Metric = "kappa"
) -> tuple[Cell, ...]:
    """Score every cell of one gamma on the labelled rows, in the order of C."""
    scores = score(labels, fits.predictions(), metric)
    outliers = fits.outside.sum(axis=1)
    return tuple(
        Cell(fits.gamma, model.C, model.nu, model.R2, int(count), float(quality))
        for model, count, quality in zip(fits.models, outliers, scores, strict=True)
    )


def run(
    data: FloatArray | Views,
    oracle: LabelArray | Oracle,
    *,
    budget: int = 50,
    k: int = 5,
    strategy: Strategy | QueryStrategy = "lama",
    seed: int = 0,
    sample: int = 100,
    cells: int = 20,
    metric: Metric = "kappa",
    initial: tuple[int, int] = (2, 2),
    known: LabelArray | None = None,
    spacing: Spacing = "linear",
    rule: TieRule = "plateau",
    tau_rule: TauRule = "propagated",
    gamma_bounds: tuple[float, float] | None = None,
    prep: Preparation | None = None,
    atlas: Atlas | None = None,
    basis: BeliefBasis | None = None,
    choice: Literal["paper", "atlas"] | None = None,
    exclude: IndexArray = _NO_ROWS,
    label_noise: float = 0.0,
) -> TuningResult:
    """Run a session to its end.

    Parameters
    ----------
    data : Views, or FloatArray of shape (N, M)
        Observations, finite; an array's rows are taken as they are.
    oracle : LabelArray, shape (N,), or callable
        The true labels, or a function from row to +1, -1, 0 (not known: the row is not asked
        about again) or None (ask no more).
    budget : int
        Labels in all, the initial ones included.
    k, strategy, sample, tau_rule
        As in `suggest`.
    seed : int
        Same seed and same labels, same queries.
    cells, metric, spacing, rule
        As in `finish`.
    initial : tuple of int
        Inliers and outliers labelled before the first query; needs the true labels unless (0, 0).
    known : LabelArray, shape (N,), optional
        Labels to start with; 0 where there is none. Instead of `initial`, which is then ignored.
    gamma_bounds : tuple of float, optional
        Range of gamma in every representation; by default what follows from the rows in each.
    prep : Preparation, optional
        Of the rows in the base representation; made with k and `seed` by default.
    atlas : Atlas, optional
        Of the data; made by default where it is needed.
    basis : BeliefBasis, optional
        Of the rows in the belief's representation; likewise.
    choice : {"paper", "atlas"}, optional
        gamma by alignment and then C, as in `finish`, or both from the atlas, as in
        `finish_with_atlas` (on the labels alone with "disagreement"). By default the atlas
        where the strategy uses it.
    exclude : IndexArray, optional
        Rows never asked about, 0-based. Their entries of `oracle` are 0, so that no initial label
        is drawn among them; what needs no label still sees them.
    label_noise : float
        Probability that an answer of the oracle is wrong, in [0, 0.5), as the belief takes it.
        Initial labels are certain.

    Returns
    -------
    TuningResult
        Stops early when no row is left.

    Raises
    ------
    ValueError
        If `oracle` or `known` does not have one label per row or holds another value, if
        `choice` is unknown, if `initial` needs labels and `oracle` is a function, or if
        `label_noise` is out of range.
    """
    views = Views.of(data)
    N = len(views)
    if not callable(oracle) and oracle.shape != (N,):
        raise ValueError(f"oracle has shape {oracle.shape}, expected {(N,)}")
    if choice not in (None, "paper", "atlas"):
        raise ValueError(f"choice is {choice!r}, expected 'paper', 'atlas' or None")
    if not 0.0 <= label_noise < 0.5:
        raise ValueError(f"label_noise is {label_noise}, expected [0, 0.5)")
    labels: LabelArray = np.zeros(N, dtype=np.int8)
    if known is not None:
        if known.shape != labels.shape or not np.isin(known, (-1, 0, 1)).all():
            raise ValueError(f"known has shape {known.shape}, expected {labels.shape} of -1, 0, 1")
        labels = known.astype(np.int8)
    elif initial != (0, 0):
        if callable(oracle):
            raise ValueError(f"initial is {initial}, expected (0, 0) with a callable oracle")
        rows = draw_initial(oracle, *initial, seed)
        labels[rows] = oracle[rows]
    certainty = np.where(labels == 0, 1.0 - label_noise, 1.0) if label_noise else None
    needs_atlas = callable(strategy) or strategy in ATLAS_STRATEGIES
    if choice is None:
        choice = "atlas" if needs_atlas else "paper"
    if prep is None:
        sampled = needs_atlas and choice == "atlas" and N > SAMPLED_ABOVE
        prep = prepare(
            views.rows(views.base), k=k, rows=panel_rows(N) if sampled else None,
            gamma_bounds=gamma_bounds, seed=seed,
        )  # fmt: skip
    X = views.X if prep.rows is None else views.rows(views.base)
    if atlas is None and (choice == "atlas" or needs_atlas):
        if gamma_bounds is None and views.scaling != AUTO:
            gamma_bounds = prep.gamma_bounds
        basis = _basis(views) if basis is None else basis
        atlas = fit_atlas(views, gamma_bounds, panel=basis.panel, seed=seed)
    if atlas is not None:
        basis = _basis(views) if basis is None else basis
        atlas = atlas.on(Panel(basis.panel, basis.weights))
    criterion: Criterion = "labels" if strategy == "disagreement" else "evidence"
    queries: list[int] = []
    gammas: list[float] = []
    choices: list[LiveChoice] = []
    unsure: list[int] = []
    while (rev := int(np.count_nonzero(labels))) < budget:
        suggestion = suggest(
            prep, X, labels, k=k, strategy=strategy, sample=sample,
            rng=query_rng(seed, rev, len(queries)), exclude=np.r_[exclude, unsure].astype(np.int64),
            atlas=atlas, basis=basis, metric=metric, tau_rule=tau_rule, certainty=certainty,
        )  # fmt: skip
        if len(suggestion.rows) == 0:
            break
        row = int(suggestion.rows[0])
        label = oracle(row) if callable(oracle) else int(oracle[row])
        if label is None:
            break
        if label not in (-1, 0, 1):
            raise ValueError(f"label of row {row} is {label}, expected +1, -1 or 0")
        if suggestion.choice is not None:
            choices.append(suggestion.choice)
        queries.append(row)
        gammas.append(suggestion.gamma)
        labels[row] = label
        if label == 0:
            unsure.append(row)
    if atlas is not None and basis is not None:
        choices.append(choose_cell(
            atlas, basis, labels, criterion=criterion, metric=metric, certainty=certainty
        ))  # fmt: skip
    if choice == "atlas" and atlas is not None and basis is not None:
        final = finish_with_atlas(
            prep, views, labels, atlas, basis, k=k, criterion=criterion, metric=metric, seed=seed,
            certainty=certainty,
        )  # fmt: skip
    else:
        final = finish(
            prep,
            views,
            labels,
            k=k,
            cells=cells,
            spacing=spacing,
            metric=metric,
            rule=rule,
            seed=seed,
        )
    return TuningResult(
        final, labels, np.array(queries, dtype=np.int64), np.array(gammas), tuple(choices)
    )
