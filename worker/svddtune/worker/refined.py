"""The refined detector of a session, and how it compares with the tuned SVDD on held-out labels."""

import numpy as np

from svddtune import numerics
from svddtune.config import SessionConfig
from svddtune.numerics import LabelArray
from svddtune.numerics.refined import fit_refined, held_out, held_out_cells
from svddtune.refined import RefinedDetector
from svddtune.state.codec import counts_to_proto
from svddtune.v1 import common_pb2, result_pb2
from svddtune.worker.data import Data, FittedLattice
from svddtune.worker.live import INTERVAL_LEVEL, label_counts
from svddtune.worker.plan import criterion, metric_name, metric_of

# Labels of each class below which the detectors cannot be compared: one must be left to learn from.
LEAST_OF_CLASS = 2
# Rows up to which all are counted that the refined detector has outside; of more a uniform sample.
# It takes about a tenth of a millisecond a row.
COUNTED_ROWS = 100_000


def fit_detector(data: Data, labels: LabelArray, config: SessionConfig) -> RefinedDetector | None:
    """The refined detector of the labels; None while a class has none."""
    return fit_refined(data.refined_basis, data.raw, labels, seed=config.seed)


def compare_detectors(
    data: Data, lattice: FittedLattice, labels: LabelArray, config: SessionConfig
) -> result_pb2.DetectorComparison | None:
    """Both detectors on labels that they were made without; None where there are too few."""
    if min(numerics.class_counts(labels)) < LEAST_OF_CLASS:
        return None
    metric, rows = metric_of(config), np.flatnonzero(labels)
    truth = labels[rows]
    svdd = held_out_cells(
        lattice.atlas,
        lattice.basis,
        labels,
        criterion=criterion(config),
        metric=metric,
        seed=config.seed,
    )
    scores = held_out(data.refined_basis, data.raw, labels, seed=config.seed)
    refined = numerics.as_labels(scores >= 0.5)
    comparison = result_pb2.DetectorComparison(
        svdd=_quality(truth, svdd, config),
        refined=_quality(truth, refined, config),
        labels=len(rows),
    )
    low, high = numerics.difference_interval(
        truth, svdd, refined, metric, level=INTERVAL_LEVEL, rng=_rng(config)
    )
    comparison.difference.CopyFrom(common_pb2.Interval(low=low, high=high, level=INTERVAL_LEVEL))
    if low > 0.0:
        comparison.better = result_pb2.DETECTOR_REFINED
    elif high < 0.0:
        comparison.better = result_pb2.DETECTOR_SVDD
    return comparison


def refined_result(
    detector: RefinedDetector,
    data: Data,
    lattice: FittedLattice,
    labels: LabelArray,
    config: SessionConfig,
) -> result_pb2.RefinedResult:
    """What a result says of its refined detector."""
    N = len(data.raw)
    seen = data.raw
    if N > COUNTED_ROWS:
        seen = seen[np.sort(np.random.default_rng(0).choice(N, COUNTED_ROWS, replace=False))]
    return result_pb2.RefinedResult(
        comparison=compare_detectors(data, lattice, labels, config),
        outside_count=round(float(detector.outside(seen).mean()) * N),
    )


def _quality(truth: LabelArray, verdicts: LabelArray, config: SessionConfig) -> result_pb2.Quality:
    metric = metric_of(config)
    low, high = numerics.bootstrap_interval(
        truth, verdicts, metric, level=INTERVAL_LEVEL, rng=_rng(config)
    )
    return result_pb2.Quality(
        metric=metric_name(metric),
        value=float(numerics.score(truth, verdicts, metric)),
        interval=common_pb2.Interval(low=low, high=high, level=INTERVAL_LEVEL),
        counts=counts_to_proto(label_counts(truth)),
        kind=result_pb2.Quality.KIND_HELD_OUT,
    )


def _rng(config: SessionConfig) -> np.random.Generator:
    return np.random.default_rng(config.seed)
