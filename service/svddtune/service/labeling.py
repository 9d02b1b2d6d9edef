"""What labelers can do, by stream or by unary call: one implementation for both."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace

from svddtune.config import SessionConfig
from svddtune.process import traces
from svddtune.service import convert, names, validate
from svddtune.service.access.caller import Permission, current
from svddtune.service.access.faults import Forbidden
from svddtune.service.access.ownership import Ownership
from svddtune.service.cache import Lru
from svddtune.service.commands import Item
from svddtune.service.meters import Meters
from svddtune.service.views import (
    seen_ack,
    seen_assign,
    seen_counts,
    seen_error,
    shown_features,
)
from svddtune.state import projects
from svddtune.state.datasets import DatasetStore
from svddtune.state.errors import InvalidInput, NotFound, StateError
from svddtune.state.session import (
    Answer,
    DatasetId,
    Lease,
    LeaseOutcome,
    LeaseRequest,
    ServeOrder,
    Session,
    SessionId,
)
from svddtune.state.store import SessionStore
from svddtune.v1 import dataset_pb2, oracle_pb2

# Sessions that a stream which serves any looks at.
MOST_ASKING = 1000
# So few rows never exceed a message, however large they are: they are read without being measured.
_READ_UNMEASURED = 4
# Answers of a batch that one script stores: some milliseconds.
_PER_SCRIPT = 200
# How long the next ranking waits for a further batch.
_HOLD_S = 10.0


class Labeling:
    """Leases and answers. Methods raise what the store's methods raise, and InvalidInput."""

    def __init__(
        self,
        store: SessionStore,
        datasets: DatasetStore,
        ownership: Ownership,
        meters: Meters | None = None,
    ) -> None:
        self._ownership = ownership
        self._meters = meters or Meters()
        self._store = store
        self._datasets = datasets
        # A session's dataset, a dataset's shape and an observation's row never change.
        self._dataset_ids: Lru[SessionId, DatasetId] = Lru(1000)
        # Only those settings are read from here that never change.
        self._configs: Lru[SessionId, SessionConfig] = Lru(1000)
        self._shapes: Lru[DatasetId, dataset_pb2.Dataset] = Lru(1000)
        self._rows: Lru[tuple[DatasetId, str], int] = Lru(10_000)

    async def session(self, session_id: SessionId) -> Session:
        """The session now."""
        session = await self._store.get(session_id)
        self._dataset_ids.put(session_id, session.dataset_id)
        self._configs.put(session_id, session.config)
        return session

    async def attended(self, session_id: SessionId) -> bool:
        """Whether some worker is there for the session."""
        return await self._store.attended(session_id)

    async def asking_sessions(self) -> dict[SessionId, ServeOrder]:
        """Sessions that ask now, in their `ServeOrder`; the first 1,000."""
        found = await self._store.labeling(projects.current())
        order = sorted(found, key=lambda one: (found[one].rank, found[one].created_ms))
        return {session_id: found[session_id] for session_id in order[:MOST_ASKING]}

    async def lease(
        self, session_id: SessionId, request: LeaseRequest, *, waits: bool = False
    ) -> LeaseOutcome:
        """Lease queries to a holder until it has as many as it requests."""
        return await self._store.lease(session_id, request, waits=waits)

    async def park(self, session_id: SessionId, holder: str) -> None:
        """Lease nothing new to a holder until it asks again."""
        await self._store.park(session_id, holder)

    async def assignments(
        self, session_id: SessionId, leases: Sequence[Lease]
    ) -> list[oracle_pb2.Assign]:
        """Leased queries with what their labeler may see.

        Of many leases, the first ones: as many as one message holds, and at least one.
        """
        if not leases:
            return []
        dataset_id = await self._dataset_id(session_id)
        config = await self._config(session_id)
        shape = await self._shape(dataset_id)
        feature_count, shown = shape.feature_count, shown_features(config, shape)
        if len(leases) > _READ_UNMEASURED:
            leases = leases[
                : await self._datasets.count_within(
                    dataset_id,
                    [lease.row for lease in leases],
                    convert.MOST_BYTES,
                    beside=8 * feature_count,
                )
            ]
        with contextlib.ExitStack() as spans:
            for lease in leases:
                if lease.trace:
                    spans.enter_context(
                        traces.span("Assign", lease.trace, session_id=session_id, query=lease.query)
                    )
            observations, explanations = await asyncio.gather(
                self._datasets.observations(
                    dataset_id, [lease.row for lease in leases], feature_count=feature_count
                ),
                self._store.explanations(session_id, [one.query for one in leases]),
            )
        for one in observations:
            self._rows.put((dataset_id, one.observation_id), one.row)
        return [
            seen_assign(
                convert.assign_to_proto(session_id, lease, observation, explanation), config, shown
            )
            for lease, observation, explanation in zip(
                leases, observations, explanations, strict=True
            )
        ]

    async def apply(
        self,
        session_id: SessionId,
        labeler: str,
        holder: str,
        item: Item,
        *,
        then: LeaseRequest | None = None,
    ) -> oracle_pb2.Ack:
        """Apply what a labeler sent, by stream or by unary call.

        After an Answer or Skip, ``then`` leases further queries to the holder as soon as there are
        any.
        """
        await self._ownership.check_session(session_id)
        config = await self._config(session_id)
        try:
            match item:
                case oracle_pb2.Answer():
                    ack = await self._answer(session_id, labeler, holder, item, then)
                case oracle_pb2.Skip():
                    ack = await self._skip(session_id, labeler, holder, item, then)
                case oracle_pb2.Extend():
                    ack = await self._extend(session_id, labeler, holder, item)
                case oracle_pb2.Release():
                    ack = await self._release(session_id, holder, item)
                case oracle_pb2.Retract():
                    ack = await self._retract(session_id, labeler, item)
        except StateError as error:
            raise seen_error(error, config) from error
        ack.session = names.session_name(session_id)
        return seen_ack(ack, config)

    async def _answer(
        self,
        session_id: SessionId,
        labeler: str,
        holder: str,
        message: oracle_pb2.Answer,
        then: LeaseRequest | None,
    ) -> oracle_pb2.Ack:
        if message.query and not message.lease_id:
            raise validate.invalid_field("lease_id", "", "the lease the query was assigned with")
        if message.lease_id and not message.query:
            raise validate.invalid_field("query", 0, "the number of the query the lease is on")
        if not message.query and not message.observation_id:
            raise validate.invalid_field("observation_id", "", "an observation, or query and lease")
        answer = validate.answer(message, labeler, holder)
        if message.observation_id:
            answer = replace(answer, row=await self._row(session_id, message.observation_id))
        with traces.span("Answer", session_id=session_id) as trace:
            receipt = await self._store.answer(session_id, answer, then=then, trace=trace)
        self._meters.answered(answer.verdict.name.lower(), applied=receipt.applied)
        return convert.receipt_to_proto(receipt, message.answer_id)

    async def answer_batch(
        self,
        session_id: SessionId,
        labeler: str,
        holder: str,
        messages: Sequence[oracle_pb2.Answer],
        *,
        more: bool,
    ) -> oracle_pb2.AnswerBatchResponse:
        """Store unasked answers; with ``more`` the next ranking waits for a further batch."""
        rows = await self._datasets.rows_of(
            await self._dataset_id(session_id), [message.observation_id for message in messages]
        )
        answers: dict[int, Answer] = {}
        refused: dict[int, StateError] = {}
        for place, (message, row) in enumerate(zip(messages, rows, strict=True)):
            try:
                if row is None:
                    raise validate.unknown_observation(message.observation_id)
                validate.session_of_batch(message.session, session_id)
                answers[place] = replace(validate.unasked(message, labeler, holder), row=row)
            except (InvalidInput, NotFound) as error:
                refused[place] = error
        places = list(answers)
        # In parts, so that others need not wait for the store for long.
        parts = [places[at : at + _PER_SCRIPT] for at in range(0, len(places), _PER_SCRIPT)] or [[]]
        applied = 0
        for number, part in enumerate(parts, start=1):
            with traces.span("AnswerBatch", session_id=session_id, answers=len(part)) as trace:
                receipt = await self._store.answer_batch(
                    session_id,
                    [answers[place] for place in part],
                    labeler=labeler,
                    holder=holder,
                    hold_s=_HOLD_S if more or number < len(parts) else 0.0,
                    trace=trace,
                )
            applied += receipt.applied
            for place, at in enumerate(part):
                if place not in receipt.refused:
                    self._meters.answered(answers[at].verdict.name.lower(), applied=True)
            refused |= {part[place]: error for place, error in receipt.refused.items()}
        config = await self._config(session_id)
        seen = {place: seen_error(error, config) for place, error in refused.items()}
        response = convert.batch_to_proto(session_id, messages, applied, receipt.counts, seen)
        response.counts.CopyFrom(seen_counts(response.counts, config))
        return response

    async def _retract(
        self, session_id: SessionId, labeler: str, message: oracle_pb2.Retract
    ) -> oracle_pb2.Ack:
        of = validate.labeler(message.of_labeler, "of_labeler") if message.of_labeler else ""
        validate.answer_id(message.answer_id)
        role = current().role
        if of not in ("", labeler) and not role.may(Permission.GOVERN):
            raise Forbidden(
                "ROLE_TOO_LOW",
                f"The vote of {of} may be retracted by that labeler, and by an admin of the "
                f"project.",
                session=session_id,
                labeler=of,
                role=role.name.lower(),
            )
        row = await self._row(session_id, message.observation_id)
        receipt = await self._store.retract(
            session_id, answer_id=message.answer_id, labeler=labeler, row=row, of=of
        )
        return convert.receipt_to_proto(receipt, message.answer_id)

    async def _skip(
        self,
        session_id: SessionId,
        labeler: str,
        holder: str,
        message: oracle_pb2.Skip,
        then: LeaseRequest | None,
    ) -> oracle_pb2.Ack:
        receipt = await self._store.skip(
            session_id,
            labeler=labeler,
            query=message.query,
            lease_id=message.lease_id,
            mode=convert.skip_mode_from_proto(message.mode),
            holder=holder,
            then=then,
        )
        return convert.receipt_to_proto(receipt)

    async def _extend(
        self, session_id: SessionId, labeler: str, holder: str, message: oracle_pb2.Extend
    ) -> oracle_pb2.Ack:
        receipt = await self._store.extend(
            session_id, holder=holder, labeler=labeler, lease_ids=message.lease_ids
        )
        return convert.leases_receipt_to_proto(receipt)

    async def _release(
        self, session_id: SessionId, holder: str, message: oracle_pb2.Release
    ) -> oracle_pb2.Ack:
        receipt = await self._store.release(session_id, holder=holder, lease_ids=message.lease_ids)
        return convert.leases_receipt_to_proto(receipt)

    async def _dataset_id(self, session_id: SessionId) -> DatasetId:
        return self._dataset_ids.get(session_id) or (await self.session(session_id)).dataset_id

    async def _config(self, session_id: SessionId) -> SessionConfig:
        return self._configs.get(session_id) or (await self.session(session_id)).config

    async def _shape(self, dataset_id: DatasetId) -> dataset_pb2.Dataset:
        """How many features there are, and their names."""
        shape = self._shapes.get(dataset_id)
        if shape is None:
            found = await self._datasets.get(dataset_id)
            # (No more than that: all of these are kept in memory.)
            shape = dataset_pb2.Dataset(
                feature_count=found.feature_count, feature_names=found.feature_names
            )
            self._shapes.put(dataset_id, shape)
        return shape

    async def _row(self, session_id: SessionId, observation_id: str) -> int:
        dataset_id = await self._dataset_id(session_id)
        row = self._rows.get((dataset_id, observation_id))
        if row is None:
            (row,) = await self._datasets.rows_of(dataset_id, [observation_id])
            if row is None:
                raise validate.unknown_observation(observation_id)
            self._rows.put((dataset_id, observation_id), row)
        return row
