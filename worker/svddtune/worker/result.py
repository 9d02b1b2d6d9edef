"""ESTIMATE: choose C on the labels, fit the final model, and put the evidence together."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from svddtune import numerics
from svddtune.jobs.v1 import jobs_pb2
from svddtune.numerics import (
    AUTO,
    SAMPLED_ABOVE,
    FloatArray,
    IndexArray,
    LabelArray,
    Preparation,
    SvddModel,
)
from svddtune.numerics.grid import TieRule
from svddtune.numerics.lattice import LATTICE_SAMPLE
from svddtune.numerics.panel import PANEL_ROWS
from svddtune.numerics.scores import Metric
from svddtune.state.codec import counts_to_proto
from svddtune.state.workspace import LabelLog, Snapshot
from svddtune.v1 import common_pb2, result_pb2
from svddtune.worker.audit import add_audit
from svddtune.worker.data import Data, FittedLattice
from svddtune.worker.live import INTERVAL_LEVEL, label_counts
from svddtune.worker.manifest import manifest
from svddtune.worker.plan import atlas_cells, grid_cells, metric_name, metric_of, predictions
from svddtune.worker.rules import DEFAULT_NU, RULE_ROWS, rule_verdicts
from svddtune.worker.scalings import scaling_kind, scaling_word
from svddtune.worker.votes import vote_notes

UNJUDGED_GAMMA = {
    result_pb2.CHOICE_ALIGNMENT: "Scott's rule, not from labels",
    result_pb2.CHOICE_ATLAS: "what the cells of the atlas agree about",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Inputs of a result besides the plan's fits."""

    # What gamma and C are chosen on: without the audit's.
    labels: LabelArray
    # How certain these are, and the rate of wrong answers behind it: see ``votes.Labels``.
    certainty: FloatArray | None
    noise: float
    # All labels.
    answered: LabelArray
    # Rows whose labels only the audit uses.
    audited: IndexArray
    lattice: FittedLattice | None
    prep: Preparation
    log: LabelLog
    # What label-free rules say, by name.
    rules: Mapping[str, jobs_pb2.FitOutput]


def assemble(
    plan: jobs_pb2.GridPlan,
    outputs: list[jobs_pb2.FitOutput],
    data: Data,
    snapshot: Snapshot,
    evidence: Evidence,
) -> tuple[result_pb2.TuningResult, SvddModel]:
    """The result of a session and its model."""
    config, prep = snapshot.session.config, evidence.prep
    metric, scaling = metric_of(config), scaling_word(plan.scaling)
    labels, N = evidence.labels, len(evidence.labels)
    labelled = np.flatnonzero(labels)
    of_atlas = plan.choice == result_pb2.CHOICE_ATLAS
    if of_atlas and evidence.lattice is not None:
        atlas = evidence.lattice.atlas
        cells = atlas_cells(atlas, scaling, plan.gamma)
        column = atlas.column(scaling, plan.gamma)
        predicted = numerics.as_labels(atlas.outside_at(labelled)[column])
    else:
        cells = grid_cells(plan, outputs)
        predicted = predictions(cells, N)[:, labelled]
    scores = numerics.score(labels[labelled], predicted, metric)
    judged = min(numerics.class_counts(labels)) > 0
    if of_atlas:
        chosen = [cell.c for cell in cells].index(plan.c)
    else:
        outliers = np.array([cell.outside_count for cell in cells])
        chosen = numerics.choose_c(
            labels,
            _spread(predicted, labelled, N),
            scores,
            outliers,
            rule=cast(TieRule, config.c_tie_rule),
        )
    X = data.views.rows(scaling)
    model = numerics.fit(X, gamma=plan.gamma, C=cells[chosen].c)
    # The model's own verdicts, not those of the grid's fit: they are what the user gets.
    final = numerics.as_labels(model.outside(X))

    result = result_pb2.TuningResult(
        scaling=plan.scaling,
        gamma=plan.gamma,
        c=model.C,
        nu=model.nu,
        c_min=plan.c_min,
        c_max=plan.c_max,
        choice=plan.choice,
        quality=_quality(labels, final, metric, judged, snapshot),
        outside_count=int((final == -1).sum()),
        support_vector_count=len(model.rows),
        notes=[
            *_notes(
                labels,
                final,
                model,
                prep,
                judged=judged,
                choice=plan.choice,
                several=of_atlas and len(data.views.kinds) > 1,
            ),
            *numerics.label_notes(labels, final, _best_kappa(predicted, evidence)),
            *numerics.data_notes(data.raw, data.description.feature_names),
            # (Labels that choose among representations pass judgement on this one too.)
            *(() if of_atlas and data.views.scaling == AUTO else uneven_notes(data)),
            *vote_notes(snapshot, labels, evidence.noise),
        ],
        manifest=manifest(
            data,
            prep,
            model,
            snapshot,
            evidence.log,
            np.where(labels, labels, evidence.answered),
            evidence.certainty,
            with_atlas=of_atlas,
        ),
    )
    if len(evidence.audited):
        add_audit(result, evidence.answered, evidence.audited, final, metric, seed=config.seed)
    for cell, score in zip(cells, scores, strict=True):
        result.c_curve.add(
            c=cell.c,
            nu=numerics.nu_from_c(cell.c, N),
            score=float(score),
            outside_count=cell.outside_count,
            support_vector_count=cell.support_vector_count,
            r2=cell.r2,
            degenerate=cell.degenerate,
        )
    if judged and prep.rows is None:
        local = numerics.local_alignment(prep, data.views.X, labels, k=config.k)
        grid = numerics.coarse_grid(prep.gamma_bounds)
        for gamma, alignment in zip(grid, local(grid), strict=True):
            result.alignment_curve.add(gamma=gamma, alignment=alignment)
    result.comparisons.extend(_comparisons(evidence, data, metric, judged))
    if any(one.sample_size for one in result.comparisons):
        result.notes.append(
            f"The label-free rules used a uniform sample of {RULE_ROWS} rows; their scores are "
            f"on all labels."
        )
    result.create_time.GetCurrentTime()
    result.estimate_seconds = max(0.0, time.time() - plan.started_seconds)
    return result, model


def _spread(predicted: LabelArray, rows: IndexArray, N: int) -> LabelArray:
    """Predictions of some rows, shape (S, n), among those of all, shape (S, N); else 0."""
    spread = np.zeros((len(predicted), N), dtype=np.int8)
    spread[:, rows] = predicted
    return spread


def _best_kappa(predicted: LabelArray, evidence: Evidence) -> float:
    """Largest kappa on the labels of any cell of the atlas, else of the grid, as predicted."""
    rows = np.flatnonzero(evidence.labels)
    if evidence.lattice is not None:
        predicted = numerics.as_labels(evidence.lattice.atlas.outside_at(rows))
    return float(numerics.score(evidence.labels[rows], predicted, "kappa").max())


def _comparisons(
    evidence: Evidence, data: Data, metric: Metric, judged: bool
) -> Iterator[result_pb2.Comparison]:
    labels, scaling = evidence.labels, data.views.base
    rows = np.flatnonzero(labels)
    sampled = len(labels) > RULE_ROWS
    for name, output in evidence.rules.items():
        for cell in output.cells:
            verdicts = rule_verdicts(cell, data.X, rows)
            yield result_pb2.Comparison(
                name=name,
                scaling=scaling_kind(scaling),
                gamma=cell.gamma,
                nu=DEFAULT_NU,
                score=float(numerics.score(labels[rows], verdicts, metric)) if judged else None,
                outside_count=cell.outside_count,
                best_c_score=(
                    _best_c_score(evidence, scaling, cell.gamma, metric) if judged else None
                ),
                sample_size=RULE_ROWS if sampled else 0,
                outside=b"" if sampled else cell.outside,
            )


def _best_c_score(evidence: Evidence, scaling: str, gamma: float, metric: Metric) -> float | None:
    """Best score over the atlas's cells of a representation at the gamma nearest to a rule's.

    None where there is no such cell.
    """
    if evidence.lattice is None:
        return None
    atlas, labels = evidence.lattice.atlas, evidence.labels
    gammas = atlas.gammas(scaling)
    if len(gammas) == 0:
        return None
    nearest = float(gammas[np.argmin(np.abs(np.log(gammas / gamma)))])
    rows, column = np.flatnonzero(labels), atlas.column(scaling, nearest)
    column = column[numerics.tells_apart(atlas.outliers[column], atlas.N)]
    votes = numerics.as_labels(atlas.outside_at(rows)[column])
    return float(numerics.score(labels[rows], votes, metric).max())


def _quality(
    labels: LabelArray, final: LabelArray, metric: Metric, judged: bool, snapshot: Snapshot
) -> result_pb2.Quality:
    counts = replace(label_counts(labels), unsure=snapshot.session.counts.unsure)
    quality = result_pb2.Quality(
        metric=metric_name(metric),
        counts=counts_to_proto(counts),
        kind=result_pb2.Quality.KIND_QUERIED,
    )
    if judged:
        quality.value = float(numerics.score(labels, final, metric))
        low, high = numerics.bootstrap_interval(
            labels,
            final,
            metric,
            level=INTERVAL_LEVEL,
            rng=np.random.default_rng([snapshot.session.config.seed, snapshot.rev]),
        )
        quality.interval.CopyFrom(common_pb2.Interval(low=low, high=high, level=INTERVAL_LEVEL))
    return quality


def _notes(
    labels: LabelArray,
    final: LabelArray,
    model: SvddModel,
    prep: Preparation,
    *,
    judged: bool,
    choice: result_pb2.Choice,
    several: bool,
) -> Iterator[str]:
    """Sentences for people; ``several``: the scaling was chosen among several."""
    inliers, outliers = numerics.class_counts(labels)
    if not judged:
        found = f"{outliers} labels are outliers" if outliers else f"{inliers} labels are inliers"
        missing = f"All {found}" if inliers + outliers else "No label was given"
        of_cell = choice == result_pb2.CHOICE_ATLAS and not inliers + outliers
        chosen = ["scaling"] if several else []
        chosen += ["gamma", "C"] if of_cell else ["gamma"]
        subject = f"{', '.join(chosen[:-1])} and {chosen[-1]} come" if chosen[1:] else "gamma comes"
        yield (
            f"{missing}: {subject} from {UNJUDGED_GAMMA[choice]}, and the quality is not known, "
            "because labels of both classes are needed."
        )
        if not of_cell:
            yield (
                "C is the largest value that contradicts the fewest labels"
                + (": at the upper bound, where no row is outside." if not outliers else ".")
            )
    elif (labels * final >= 0).all():
        # Resamples of labels without a mistake have none either.
        yield (
            f"The model agrees with all {inliers + outliers} labels, so the interval of the score "
            "cannot tell how often it is wrong about other rows."
        )
    elif min(inliers, outliers) < 5:
        yield (
            f"The score rests on {inliers} labelled inliers and {outliers} labelled outliers: "
            "see its interval."
        )
    if judged:
        yield (
            "The score is computed on queried labels, which are not a random sample, so it does "
            "not estimate the score on all rows."
        )
    if model.degenerate:
        yield "nu is 1: the solution fixes no radius, and every row counts as an outlier."
    if prep.sample_size is not None:
        yield f"Kernel means were computed on a uniform sample of {prep.sample_size} rows."
    if choice == result_pb2.CHOICE_ATLAS and len(labels) > SAMPLED_ABOVE:
        yield (
            f"The cells of the atlas were fitted on a uniform sample of {LATTICE_SAMPLE} rows; "
            f"{'scaling, gamma' if several else 'gamma'} and C were chosen by these. How many rows "
            f"a cell has outside is estimated from {PANEL_ROWS} rows."
        )
    if prep.rows is not None:
        yield "There is no curve of the alignment: it would take the neighbours of all rows."
    if model.fit_rows is not None:
        yield (
            f"SVDD was fitted on a uniform sample of {len(model.fit_rows)} rows with nu kept, and "
            "evaluated on all rows."
        )


def uneven_notes(data: Data) -> Iterator[str]:
    """A sentence where some columns hardly count in a distance."""
    uneven = data.uneven
    if uneven is None:
        return
    names = data.description.feature_names
    wide, narrow = (
        repr(names[column]) if names else str(column) for column in (uneven.wide, uneven.narrow)
    )
    advice = {
        "none": 'Scale the columns (scaling "auto") unless this is intended.',
        "minmax": 'A few extreme values set its range: use scaling "robust", which ignores them.',
    }.get(data.views.base, "Leave out or transform the column unless this is intended.")
    yield (
        f"Column {wide} has {uneven.ratio:.0e} times the spread of column {narrow}, so column "
        f"{narrow} hardly affects distances. {advice}"
    )
