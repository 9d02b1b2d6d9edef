"""What the labels say beyond the best cell: the share of outliers, the gain of further labels."""

import numpy as np

from svddtune import numerics
from svddtune.numerics import Outlook, ShareEstimate
from svddtune.state.workspace import Snapshot
from svddtune.v1 import common_pb2, result_pb2, tuning_pb2
from svddtune.worker.audit import audited_rows
from svddtune.worker.data import FittedLattice
from svddtune.worker.live import INTERVAL_LEVEL
from svddtune.worker.votes import Labels, effective_labels

_METHODS = {
    "belief": result_pb2.OutlierShare.METHOD_BELIEF,
    "audit": result_pb2.OutlierShare.METHOD_AUDIT,
}


def add_outlook(
    message: tuning_pb2.LiveEvidence | result_pb2.TuningResult,
    outlook: Outlook | None,
    snapshot: Snapshot,
) -> None:
    """Put the share of outliers and the expected gain into live evidence or a result.

    The share is the audit's if that has enough answers, else the belief's.
    """
    share = _by_audit(snapshot) or (outlook.share if outlook else None)
    if share is not None:
        message.outlier_share.CopyFrom(_share(share))
    if outlook is not None and outlook.gain is not None:
        message.expected_gain = outlook.gain


def outlook(snapshot: Snapshot, lattice: FittedLattice | None, labels: Labels) -> Outlook | None:
    """The outlook where no ranking has computed it; None without an atlas."""
    if lattice is None:
        return None
    config, audited = snapshot.session.config, audited_rows(snapshot)
    return numerics.outlook(
        lattice.atlas,
        lattice.basis,
        labels.values,
        gain=config.metric == "kappa"
        and not config.own_strategy
        and config.strategy in numerics.GAIN_STRATEGIES,
        exclude=np.array(sorted(snapshot.dropped | set(audited.tolist())), dtype=np.int64),
        certainty=labels.certainty,
    )


def _by_audit(snapshot: Snapshot) -> ShareEstimate | None:
    rows = audited_rows(snapshot)
    if sum(row in snapshot.labels for row in rows.tolist()) < numerics.AUDITED_ROWS:
        return None
    answered = effective_labels(snapshot)
    if int(np.count_nonzero(answered[rows])) < numerics.AUDITED_ROWS:
        return None
    initial = answered[sorted(snapshot.initial_rows)]
    return numerics.share_by_audit(answered[rows], initial, N=len(answered))


def _share(share: ShareEstimate) -> result_pb2.OutlierShare:
    return result_pb2.OutlierShare(
        value=share.value,
        interval=common_pb2.Interval(low=share.low, high=share.high, level=INTERVAL_LEVEL),
        method=_METHODS[share.method],
        labels=share.labels,
    )
