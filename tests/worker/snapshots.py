"""Snapshots of sessions, as the worker reads them."""

from typing import Any

from svddtune.config import SessionConfig
from svddtune.state.session import DatasetId, LabelCounts, Session, SessionId, SessionState
from svddtune.state.workspace import Snapshot
from svddtune.v1 import dataset_pb2
from svddtune.worker.votes import majority


def snapshot_of(votes: dict[int, dict[str, int]], *, N: int = 20, **config: Any) -> Snapshot:
    """A session's snapshot: labels follow the majority of votes."""
    labels = {row: majority(of_row) for row, of_row in votes.items() if majority(of_row)}
    session = Session(
        id=SessionId("p00-x"),
        dataset_id=DatasetId("x"),
        display_name="",
        config=SessionConfig(**config),
        state=SessionState.LABELING,
        counts=LabelCounts(),
        observation_count=N,
        query_count=len(votes),
        leased_count=0,
        gamma=0.0,
        scaling=dataset_pb2.SCALING_KIND_UNSPECIFIED,
        alignment=0.0,
        live=b"",
        atlas_progress=1.0,
        revision=0,
        finish_reason="",
        failure=None,
        created_ms=0,
        updated_ms=0,
        version=1,
    )
    return Snapshot(
        session=session,
        rev=len(votes),
        attempt=0,
        labels=labels,
        asked_by={},
        dropped=frozenset(votes.keys() - labels.keys()),
        open_rows=frozenset(),
        estimating_ms=0,
        prep_k=5,
        initial_rows=frozenset(),
        atlas_ready=True,
        votes=votes,
        moment="",
    )
