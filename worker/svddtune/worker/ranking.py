"""Rank the rows to ask about next, from a snapshot of a session."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np

from svddtune import numerics
from svddtune.extensions import strategy_named
from svddtune.numerics import IndexArray, LabelArray, Preparation, Suggestion
from svddtune.numerics.tau import TauRule
from svddtune.state.workspace import Snapshot
from svddtune.worker.audit import Candidate, audited_rows, interleave
from svddtune.worker.data import Data, FittedLattice
from svddtune.worker.plan import metric_of
from svddtune.worker.votes import labels_in_force

# Rows ranked in advance, for labelers that ask while the next ranking is computed.
RESERVE = 16


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows to ask about, best first, with what chose them."""

    candidates: list[Candidate]
    # What the model predicts for each of them: +1 or -1; 0 without a model.
    predicted: LabelArray
    suggestion: Suggestion
    # The labels that the choice rests on.
    labels: LabelArray


def rank(
    snapshot: Snapshot, prep: Preparation, data: Data, lattice: FittedLattice | None
) -> Ranking:
    """Rank the rows that are worth a label.

    A pure function: the log of a session up to the snapshot's moment gives the same ranking again.
    """
    config, audited = snapshot.session.config, audited_rows(snapshot)
    labels = labels_in_force(snapshot, without=audited)
    suggestion = numerics.suggest(
        prep,
        data.X,
        labels.values,
        k=config.k,
        strategy=strategy_named(config.own_strategy or config.strategy),
        sample=config.candidate_sample,
        rng=numerics.query_rng(config.seed, snapshot.rev, snapshot.session.query_count),
        exclude=np.array(sorted(snapshot.dropped | set(audited.tolist())), dtype=np.int64),
        open_rows=np.array(sorted(snapshot.open_rows), dtype=np.int64),
        atlas=lattice.atlas if lattice else None,
        basis=lattice.basis if lattice else None,
        metric=metric_of(config),
        tau_rule=cast(TauRule, config.tau_rule),
        certainty=labels.certainty,
    )
    chosen = list(islice(_with_audit(snapshot, suggestion, audited), RESERVE))
    predicted = numerics.predicted_labels(
        suggestion.choice,
        lattice.atlas if lattice else None,
        np.array([one.row for one in chosen], dtype=np.int64),
    )
    return Ranking(chosen, predicted, suggestion, labels.values)


def as_controls(ranking: Ranking, snapshot: Snapshot) -> list[Candidate]:
    """The control items that labelers may get next, as if chosen like the best row: nobody is to
    tell them from others.
    """
    best = next(iter(ranking.candidates), Candidate(0, 0.0, "random"))
    return [Candidate(row, best.score, best.rule) for row in snapshot.next_controls]


def _with_audit(
    snapshot: Snapshot, suggestion: Suggestion, audited: IndexArray
) -> Iterator[Candidate]:
    unavailable = snapshot.dropped | snapshot.open_rows | snapshot.labels.keys()
    return interleave(
        (
            Candidate(row, score, rule)
            for row, score, rule in zip(
                suggestion.rows.tolist(),
                suggestion.scores.tolist(),
                suggestion.rules,
                strict=True,
            )
        ),
        (row for row in audited.tolist() if row not in unavailable),
        asked=snapshot.session.query_count,
        audits=len(audited),
        queries=max(1, snapshot.session.config.budget - len(snapshot.initial_rows)),
    )
