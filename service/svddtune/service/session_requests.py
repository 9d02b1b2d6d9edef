"""What requests to create and to change a session ask for, checked: all faults at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from svddtune.config import SessionConfig, completed, to_proto
from svddtune.service import names, validate
from svddtune.service.access.caller import current
from svddtune.service.handover import Source, read_source
from svddtune.state import codec
from svddtune.state.datasets import DatasetStore
from svddtune.state.retention import AS_SERVICE_IS_SET
from svddtune.state.session import (
    ControlItem,
    DatasetId,
    InitialLabel,
    LabelCounts,
    TakenLabels,
    Verdict,
)
from svddtune.v1 import dataset_pb2, tuning_pb2

# Who gives initial labels that name nobody.
INITIAL = "initial"
_PATHS = (
    *("display_name", "labels", "config.budget", "config.priority", "config.trusts"),
    "retention_seconds",
)


@dataclass(frozen=True, slots=True)
class Creation:
    """What a CreateSession request asks for beside its display name and labels."""

    dataset_id: DatasetId
    dataset: dataset_pb2.Dataset
    config: SessionConfig
    initial: Sequence[InitialLabel]
    controls: Sequence[ControlItem]
    labeler: str
    request_id: str
    # Whose labels the session takes over.
    source: Source | None
    # As in ``Session``.
    retention_ms: int | None


async def creation(request: tuning_pb2.CreateSessionRequest, datasets: DatasetStore) -> Creation:
    """What a request asks for.

    Raises InvalidInput with all that is wrong, Forbidden (``LABELER_NOT_YOURS``), NotFound
    (``DATASET_NOT_FOUND``, and ``SESSION_NOT_FOUND`` for a source that cannot be).
    """
    faults = validate.Faults()
    faults.of(
        validate.at_most_bytes, "display_name", request.display_name, validate.LONGEST_DISPLAY_NAME
    )
    faults.of(validate.labels, "labels", request.labels)
    request_id = faults.of(validate.request_id, request.request_id)
    labeler = faults.of(validate.labeler, request.labeler or INITIAL)
    if labeler is not None and labeler != INITIAL:
        current().must_be(labeler, "labeler")
    retention_ms = None
    if request.HasField("retention_seconds"):
        retention_ms = faults.of(
            validate.retention_ms, "retention_seconds", request.retention_seconds
        )
    given, most = request.initial_labels, validate.MOST_INITIAL_LABELS
    faults.of(validate.in_range, "len(initial_labels)", len(given), 0, most)
    items = request.controls[: validate.MOST_CONTROLS]
    faults.of(validate.in_range, "len(controls)", len(request.controls), 0, validate.MOST_CONTROLS)
    dataset_id = faults.of(names.dataset_id, request.dataset, "dataset")
    source = faults.of(read_source, request.from_session) if request.from_session else None
    if dataset_id is None:
        faults.of(validate.session_config, request.config)
        raise faults.error()
    dataset = await datasets.get(dataset_id)
    config = faults.of(validate.session_config, request.config, dataset.observation_count)
    if config is not None:
        faults.of(validate.visible_features, config, dataset)
    ids = [label.observation_id for label in given[:most]]
    rows = await datasets.rows_of(dataset_id, ids) if ids else []
    initial = faults.of(validate.initial_labels, given[:most], rows, config)
    ids = [item.observation_id for item in items]
    rows = await datasets.rows_of(dataset_id, ids) if ids else []
    known = {label.row for label in initial or ()}
    controls = faults.of(validate.controls, items, rows, known)
    if controls:
        faults.of(validate.some_to_ask, len(controls), dataset.observation_count)
    if config is None or initial is None or labeler is None or request_id is None or faults.any:
        raise faults.error()
    return Creation(
        dataset_id=dataset_id,
        dataset=dataset,
        config=config,
        initial=initial,
        controls=controls or (),
        labeler=labeler,
        request_id=request_id,
        source=source,
        retention_ms=retention_ms,
    )


def planned_session(
    request: tuning_pb2.CreateSessionRequest, asked: Creation, taken: TakenLabels | None
) -> tuning_pb2.Session:
    """The session that a request would create, as far as it is known before; it has no name."""
    n = asked.dataset.observation_count
    outlying = [label.verdict is Verdict.OUTLIER for label in asked.initial]
    outlying += [
        sum(vote.verdict for vote in label.votes) < 0 for label in (taken.labels if taken else ())
    ]
    return tuning_pb2.Session(
        dataset=asked.dataset.name,
        display_name=request.display_name,
        config=to_proto(completed(asked.config, n)),
        state=tuning_pb2.SESSION_STATE_PREPARING,
        counts=codec.counts_to_proto(
            LabelCounts(inlier=outlying.count(False), outlier=outlying.count(True))
        ),
        observation_count=n,
        taken_over=taken.summary if taken else None,
        labels=request.labels,
        retention_seconds=None if asked.retention_ms is None else asked.retention_ms / 1000,
    )


class Changes(TypedDict, total=False):
    """The arguments of ``SessionStore.update`` that say what to change."""

    display_name: str
    labels: dict[str, str]
    budget: int
    priority: int
    trusts: Mapping[str, float]
    retention_ms: int


def update(
    request: tuning_pb2.UpdateSessionRequest,
) -> tuple[Changes, str, validate.Faults]:
    """What an UpdateSession request changes, its id, and what is wrong with it."""
    session, named = request.session, set(request.update_mask.paths)
    if not named:
        given = (
            session.display_name, session.labels, session.config.budget, session.config.priority,
            session.config.trusts, session.HasField("retention_seconds"),
        )  # fmt: skip
        named = {path for path, value in zip(_PATHS, given, strict=True) if value}
    faults, changes = validate.Faults(), Changes()
    request_id = faults.of(validate.request_id, request.request_id) or ""
    with faults.caught():
        if not named or named - set(_PATHS):
            raise validate.invalid_field(
                "update_mask", sorted(named), f"one or more of {', '.join(_PATHS)}"
            )
    if "display_name" in named:
        with faults.caught():
            changes["display_name"] = validate.at_most_bytes(
                "session.display_name", session.display_name, validate.LONGEST_DISPLAY_NAME
            )
    if "labels" in named:
        with faults.caught():
            changes["labels"] = validate.labels("session.labels", session.labels)
    if "config.budget" in named:
        with faults.caught():
            if not session.config.budget:
                raise validate.invalid_field("session.config.budget", 0, "1 or more")
            changes["budget"] = session.config.budget
    if "config.priority" in named:
        with faults.caught():
            changes["priority"] = validate.priority(session.config.priority)
    if "config.trusts" in named:
        with faults.caught():
            changes["trusts"] = validate.trusts(session.config.trusts)
    if "retention_seconds" in named:
        with faults.caught():
            changes["retention_ms"] = (
                validate.retention_ms("session.retention_seconds", session.retention_seconds)
                if session.HasField("retention_seconds")
                else AS_SERVICE_IS_SET
            )
    return changes, request_id, faults
