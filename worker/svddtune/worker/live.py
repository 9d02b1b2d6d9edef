"""Live evidence after a label: the best cell so far, its score, and stop advice."""

from svddtune import numerics
from svddtune.numerics import LabelArray
from svddtune.numerics.evidence import LiveChoice
from svddtune.state.codec import counts_to_proto
from svddtune.state.session import LabelCounts
from svddtune.v1 import common_pb2, result_pb2, tuning_pb2
from svddtune.worker.plan import metric_name
from svddtune.worker.scalings import scaling_kind

INTERVAL_LEVEL = 0.9


def label_counts(labels: LabelArray) -> LabelCounts:
    """Counts of an array of labels."""
    inlier, outlier = numerics.class_counts(labels)
    return LabelCounts(inlier=inlier, outlier=outlier)


def live_evidence(choice: LiveChoice, labels: LabelArray, metric: str) -> tuning_pb2.LiveEvidence:
    """The live choice as its message."""
    judged = choice.reason == "both_classes"
    quality = result_pb2.Quality(
        metric=metric_name(metric),
        value=choice.on_labels if judged else None,
        counts=counts_to_proto(label_counts(labels)),
        kind=result_pb2.Quality.KIND_QUERIED,
    )
    if judged:
        low, high = choice.interval
        quality.interval.CopyFrom(common_pb2.Interval(low=low, high=high, level=INTERVAL_LEVEL))
    return tuning_pb2.LiveEvidence(
        scaling=scaling_kind(choice.scaling),
        gamma=choice.gamma,
        c=choice.C,
        outside_count=choice.outliers,
        quality=quality,
        expected=choice.expected if judged else None,
        labels=choice.labels,
    )
