"""Labels that a new session takes over from another session, or from one of its results."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from svddtune.agreement import VoteLog
from svddtune.service import names, validate
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import InvalidInput
from svddtune.state.session import (
    ControlItem,
    DatasetId,
    InitialLabel,
    LabelEvent,
    Session,
    SessionId,
    TakenLabel,
    TakenLabels,
    Verdict,
)
from svddtune.state.store import SessionStore
from svddtune.v1 import result_pb2, tuning_pb2

_FIELD = "from_session"
_EVENTS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """Whose labels are taken over."""

    session_id: SessionId
    # The labels that a result was computed from, rather than those in force now.
    of_result: bool = False
    # None for the latest result.
    revision: int | None = None


def read_source(name: str) -> Source:
    """The source that the name of a session or result stands for.

    Raises InvalidInput (``INVALID_NAME``), NotFound (``SESSION_NOT_FOUND``).
    """
    if "/results/" in name:
        session_id, revision = names.result_id(name, _FIELD)
        return Source(session_id, of_result=True, revision=revision)
    return Source(names.session_id(name, _FIELD))


class Handover:
    """Reads labels of sessions for new ones."""

    def __init__(self, store: SessionStore, datasets: DatasetStore) -> None:
        self._store = store
        self._datasets = datasets

    async def take(
        self,
        source: Source,
        dataset_id: DatasetId,
        initial: Sequence[InitialLabel],
        controls: Sequence[ControlItem],
        budget: int,
    ) -> TakenLabels:
        """The labels that a new session on a dataset takes over, all of one instant.

        ``initial`` are the labels that the new session is given besides. Labels of its ``controls``
        are left out.

        Raises NotFound (``SESSION_NOT_FOUND``, ``RESULT_NOT_FOUND``), InvalidInput
        (``OBSERVATION_IDS_MISSING``, ``NO_COMMON_OBSERVATIONS``, ``CONFLICTING_LABELS``,
        ``BUDGET_TOO_SMALL``, ``INVALID_FIELD``).
        """
        session = await self._store.get(source.session_id)
        name, last = names.session_name(session.id), None
        if source.of_result:
            revision = source.revision or session.revision
            stored = await self._store.result(session.id, revision)
            name = names.result_name(session.id, revision)
            last = result_pb2.TuningResult.FromString(stored).manifest.last_event_id
        found = await self._labels(session.id, last)
        known = await self._store.known_rows(session.id)
        rows = await self._rows_in(dataset_id, session, name, list(found))
        given = {label.row: label.verdict for label in initial}
        checked = {item.row for item in controls}
        labels = []
        for (old, votes), row in zip(found.items(), rows, strict=True):
            if row in given:
                _check_agreement(given[row], votes, row, name)
            elif row is not None and row not in checked:
                labels.append(
                    TakenLabel(
                        row, votes, known=old in known and not any(vote.query for vote in votes)
                    )
                )
        count = sum(len(label.votes) for label in labels)
        if count > validate.MOST_INITIAL_LABELS:
            allowed = f"at most {validate.MOST_INITIAL_LABELS} votes in force, not {count}"
            raise validate.invalid_field(_FIELD, name, f"a session with {allowed}")
        _check_budget(budget, len(labels), len(initial), name)
        return TakenLabels(
            tuple(labels),
            tuning_pb2.TakenOver(
                source=name, taken_count=len(labels), left_out_count=len(found) - len(labels)
            ),
        )

    async def _labels(
        self, session_id: SessionId, last: str | None
    ) -> dict[int, tuple[LabelEvent, ...]]:
        """Row -> the votes on it, of each row that has a label after the event ``last``."""
        log, latest = VoteLog(), dict[tuple[int, str], LabelEvent]()
        async for event in self._events(session_id):
            if last is not None and _position(event.event_id) > _position(last):
                break
            log.add(event)
            if event.kind == "LABELED":
                latest[event.row, event.labeler] = replace(event, origin=event.origin or session_id)
        return {
            row: tuple(latest[row, labeler] for labeler in votes)
            for row, votes in log.that_decide().items()
            if sum(votes.values()) != 0
        }

    async def _events(self, session_id: SessionId) -> AsyncIterator[LabelEvent]:
        after = ""
        while True:
            batch = await self._store.label_events(session_id, after=after, limit=_EVENTS_AT_ONCE)
            for event in batch:
                yield event
            if len(batch) < _EVENTS_AT_ONCE:
                return
            after = batch[-1].event_id

    async def _rows_in(
        self, dataset_id: DatasetId, session: Session, name: str, rows: Sequence[int]
    ) -> Sequence[int | None]:
        """The rows of a dataset that are the same observations as these rows of a session's."""
        if session.dataset_id == dataset_id:
            return rows
        for one in (session.dataset_id, dataset_id):
            if not await self._datasets.has_ids(one):
                raise InvalidInput(
                    "OBSERVATION_IDS_MISSING",
                    f"{name} is about another dataset than {names.dataset_name(dataset_id)}, so "
                    f"its labels go to observations with the same id, but "
                    f"{names.dataset_name(one)} has no ids. Upload both with observation ids, or "
                    f"use the dataset of {name}.",
                    field=_FIELD,
                    dataset=names.dataset_name(one),
                    source=name,
                )
        found: list[int | None] = []
        if rows:
            ids = await self._datasets.ids_of(session.dataset_id, rows)
            found = await self._datasets.rows_of(dataset_id, ids)
        if all(row is None for row in found):
            raise InvalidInput(
                "NO_COMMON_OBSERVATIONS",
                f"None of the {len(rows)} labelled observations of {name} is in "
                f"{names.dataset_name(dataset_id)}: no id is the same. Check the observation ids, "
                f"or start without {_FIELD}.",
                field=_FIELD,
                dataset=names.dataset_name(dataset_id),
                source=name,
                labels=len(rows),
            )
        return found


def _position(event_id: str) -> tuple[int, int]:
    """An event's place in its log; before all events for no id."""
    ms, _, number = (event_id or "0-0").partition("-")
    return int(ms), int(number)


def _check_agreement(given: Verdict, votes: Sequence[LabelEvent], row: int, name: str) -> None:
    taken = Verdict.INLIER if sum(vote.verdict for vote in votes) > 0 else Verdict.OUTLIER
    if taken is not given:
        raise InvalidInput(
            "CONFLICTING_LABELS",
            f"Row {row} is {given.name} by initial_labels and {taken.name} by {name}. Leave the "
            f"initial label out, and correct the label in the new session if it is wrong.",
            field="initial_labels",
            row=row,
            source=name,
        )


def _check_budget(budget: int, taken: int, initial: int, name: str) -> None:
    if taken and taken + initial >= budget:
        beside = f" and {initial} initial labels" if initial else ""
        raise InvalidInput(
            "BUDGET_TOO_SMALL",
            f"The budget of {budget} labels is spent by the {taken} labels of {name}{beside}, "
            f"which count: give a budget above {taken + initial}.",
            field="config.budget",
            budget=budget,
            labels=taken + initial,
        )
