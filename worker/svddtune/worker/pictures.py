"""Pictures of a session, for people: what labels say of each cell, and its rows on the map."""

import numpy as np
from google.protobuf.message import Message

from svddtune import numerics
from svddtune.jobs.v1 import jobs_pb2
from svddtune.numerics import IndexArray
from svddtune.numerics.evidence import Evidence
from svddtune.numerics.svdd import SvddModel
from svddtune.state.codec import counts_to_proto
from svddtune.state.workspace import Snapshot
from svddtune.v1 import result_pb2, tuning_pb2
from svddtune.worker.data import MAP_LABELLED, Data, FittedLattice
from svddtune.worker.plan import metric_of
from svddtune.worker.scalings import scaling_word
from svddtune.worker.votes import Labels

# The score of a cell that there is none of.
NO_CELL = -2.0
# Labels up to which pictures are made anew with each label, and how often afterwards.
_AT_FIRST = 10
_EVERY = 5
# Rows times this, modulo the other, are in an order that has nothing to do with their own: Knuth's
# multiplicative hashing.
_MIXER, _MIXED = 2_654_435_761, 1 << 32


def are_due(snapshot: Snapshot) -> bool:
    """Whether the labels have changed enough for new pictures."""
    labels = snapshot.session.counts.total
    every = 1 if labels <= _AT_FIRST else _EVERY
    return snapshot.pictured < 0 or abs(labels - snapshot.pictured) >= every


def of_ranking(
    snapshot: Snapshot, data: Data, lattice: FittedLattice | None, evidence: Evidence | None
) -> dict[str, Message]:
    """What a ranking shows: cells if there is an atlas, and places of labelled rows."""
    found: dict[str, Message] = {}
    if lattice is not None and evidence is not None:
        found["cells"] = cells(lattice, evidence, snapshot.session.counts.total)
    beside = labelled_beside(snapshot, data)
    if len(beside):
        found["places"] = places(data, beside)
    return found


def of_best_cell(snapshot: Snapshot, data: Data, lattice: FittedLattice) -> dict[str, Message]:
    """What the session's best cell says of the rows of the map; nothing while there is none."""
    if not snapshot.session.live:
        return {}
    live = tuning_pb2.LiveEvidence.FromString(snapshot.session.live)
    atlas = lattice.atlas
    column = atlas.column(scaling_word(live.scaling), live.gamma)
    cell = column[atlas.C[column] == live.c]
    if len(cell) == 0:
        return {}
    model = lattice.model_of(int(cell[0]), data)
    return of_model(snapshot, data, model, scaling_word(live.scaling), labels=live.labels)


def of_result(
    snapshot: Snapshot,
    data: Data,
    lattice: FittedLattice | None,
    labels: Labels,
    model: SvddModel,
    scaling: str,
) -> dict[str, Message]:
    """The pictures that a session ends with."""
    total = snapshot.session.counts.total
    found = of_model(snapshot, data, model, scaling, labels=total)
    if lattice is not None:
        evidence = numerics.evidence_of(
            lattice.atlas,
            lattice.basis,
            labels.values,
            metric=metric_of(snapshot.session.config),
            certainty=labels.certainty,
        )
        found["cells"] = cells(lattice, evidence, total)
    return found


def last_point(
    snapshot: Snapshot, result: result_pb2.TuningResult, alignment: float
) -> tuning_pb2.HistoryPoint:
    """The last point of a session's history: its result."""
    counts, by_atlas = snapshot.session.counts, result.choice == result_pb2.CHOICE_ATLAS
    return tuning_pb2.HistoryPoint(
        labels=counts.total,
        counts=counts_to_proto(counts),
        gamma=result.gamma,
        c=result.c,
        scaling=result.scaling,
        quality=result.quality,
        alignment=None if by_atlas else alignment,
        outside_count=result.outside_count,
    )


def of_model(
    snapshot: Snapshot, data: Data, model: SvddModel, scaling: str, *, labels: int
) -> dict[str, Message]:
    """What a model in a representation says of the rows of the map."""
    beside = labelled_beside(snapshot, data)
    rows = data.views.rows(scaling)
    margins = [
        model.distance2(rows[of]) - model.R2 if len(of) else np.empty(0)
        for of in (data.map_rows, beside)
    ]
    return {
        "margins": jobs_pb2.Margins(
            labels=labels, of_portrait=margins[0], rows=beside, of_rows=margins[1]
        ),
        "places": places(data, beside),
    }


def labelled_beside(snapshot: Snapshot, data: Data) -> IndexArray:
    """Labelled rows that the dataset's own map leaves out, ascending; of many a part.

    A row that is in the part stays in it until rows before it in a fixed order are labelled.
    """
    if len(data.map_rows) == len(data.raw):
        return np.empty(0, dtype=np.int64)
    rows = np.setdiff1d(np.array(list(snapshot.labels), dtype=np.int64), data.map_rows)
    if len(rows) > MAP_LABELLED:
        rows = np.sort(rows[np.argsort(rows * _MIXER % _MIXED)[:MAP_LABELLED]])
    return rows


def places(data: Data, rows: IndexArray) -> jobs_pb2.LabelledPlaces:
    """Where rows are on the map."""
    found = data.plane.places(data.raw[rows])
    return jobs_pb2.LabelledPlaces(rows=rows, x=found[:, 0], y=found[:, 1])


def cells(lattice: FittedLattice, evidence: Evidence, labels: int) -> tuning_pb2.GetAtlasResponse:
    """What so many labels say of every cell."""
    response = tuning_pb2.GetAtlasResponse()
    response.CopyFrom(lattice.layers.message)
    response.labels = labels
    scores = np.append(evidence.expected, NO_CELL)
    shares = np.append(numerics.share_of_evidence(lattice.atlas, evidence), 0.0)
    for layer, at in zip(response.layers, lattice.layers.cells, strict=True):
        layer.scores.extend(scores[at])
        layer.weights.extend(shares[at])
    return response
