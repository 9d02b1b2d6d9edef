"""Audited rows: drawn uniformly, asked between the others, kept out of tuning."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from svddtune import numerics
from svddtune.numerics import IndexArray, LabelArray
from svddtune.numerics.scores import Metric
from svddtune.state.codec import counts_to_proto
from svddtune.state.workspace import Snapshot
from svddtune.v1 import common_pb2, result_pb2
from svddtune.worker.live import INTERVAL_LEVEL, label_counts
from svddtune.worker.plan import metric_name

RULE = "audit"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row to ask about: its score and the rule that chose it."""

    row: int
    score: float
    # A rule of ``numerics.suggest``, or "audit".
    rule: str


def audited_rows(snapshot: Snapshot) -> IndexArray:
    """The rows of a session's audit; the same whenever they are drawn."""
    config = snapshot.session.config
    if not config.audit:
        return np.empty(0, dtype=np.int64)
    return _drawn(
        snapshot.session.observation_count,
        config.audit,
        config.seed,
        snapshot.initial_rows | snapshot.control_rows,
    )


@lru_cache(maxsize=16)
def _drawn(N: int, audit: int, seed: int, known: frozenset[int]) -> IndexArray:
    """Rows of an audit. A draw among a million rows takes longer than a ranking."""
    exclude = np.array(sorted(known), dtype=np.int64)
    rows = numerics.draw_audit(N, min(audit, N - len(known)), seed=seed, exclude=exclude)
    rows.flags.writeable = False
    return rows


def interleave(
    ranked: Iterable[Candidate], audited: Iterable[int], *, asked: int, audits: int, queries: int
) -> Iterator[Candidate]:
    """Spread the audited rows evenly over a session's queries.

    ``asked`` queries were made so far, of ``queries`` in all; ``audits`` of these are audited.
    """
    tuning = iter(ranked)
    audit = (Candidate(row, 0.0, RULE) for row in audited)
    position = asked
    while True:
        due = (position + 1) * audits // queries > position * audits // queries
        item = (
            next(audit, None) or next(tuning, None)
            if due
            else (next(tuning, None) or next(audit, None))
        )
        if item is None:
            return
        yield item
        position += 1


def add_audit(
    result: result_pb2.TuningResult,
    answered: LabelArray,
    audited: IndexArray,
    final: LabelArray,
    metric: Metric,
    *,
    seed: int,
) -> None:
    """Score the final classifier on the audited rows: unbiased for all rows."""
    truth = answered[audited]
    score = numerics.audit_score(
        truth,
        final[audited],
        share_outside=float(np.mean(final == -1)),
        metric=metric,
        level=INTERVAL_LEVEL,
        rng=np.random.default_rng(seed),
        N=len(final),
    )
    interval = common_pb2.Interval(low=score.low, high=score.high, level=INTERVAL_LEVEL)
    result.audit.CopyFrom(
        result_pb2.Quality(
            metric=metric_name(metric),
            value=None if math.isnan(score.value) else score.value,
            kind=result_pb2.Quality.KIND_AUDIT,
            counts=counts_to_proto(label_counts(truth)),
            interval=interval if score.n else None,
        )
    )
