"""PREVIEW: live evidence with and without the votes of one labeler."""

from svddtune import numerics
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state.workspace import Snapshot
from svddtune.v1 import tuning_pb2
from svddtune.worker.advice import add_advice
from svddtune.worker.audit import audited_rows
from svddtune.worker.data import FittedLattice
from svddtune.worker.live import live_evidence
from svddtune.worker.outlook import add_outlook, outlook
from svddtune.worker.plan import criterion, metric_of
from svddtune.worker.votes import labels_in_force, without_votes_of


def evidence_now(
    snapshot: Snapshot,
    lattice: FittedLattice,
) -> tuning_pb2.LiveEvidence | None:
    """Live evidence as a ranking has it; None without labels of both classes."""
    labels = labels_in_force(snapshot, without=audited_rows(snapshot))
    if min(numerics.class_counts(labels.values)) == 0:
        return None
    config = snapshot.session.config
    choice = numerics.choose_cell(
        lattice.atlas,
        lattice.basis,
        labels.values,
        criterion=criterion(config),
        metric=metric_of(config),
        certainty=labels.certainty,
    )
    live = live_evidence(choice, labels.values, config.metric)
    add_outlook(live, outlook(snapshot, lattice, labels), snapshot)
    add_advice(live, snapshot.history(), config.budget)
    return live


def preview(
    snapshot: Snapshot,
    labeler: str,
    lattice: FittedLattice | None,
) -> jobs_pb2.Preview:
    """Live evidence before and after a labeler's votes are void; empty without an atlas."""
    if lattice is None:
        return jobs_pb2.Preview()
    return jobs_pb2.Preview(
        before=evidence_now(snapshot, lattice),
        after=evidence_now(without_votes_of(snapshot, labeler), lattice),
    )
