"""The surroundings of a pure dialogue: a store with leases, a clock, and the messages sent."""

from dataclasses import dataclass, field, replace
from typing import Any

from google.rpc import status_pb2

from svddtune.config import SessionConfig
from svddtune.service import commands
from svddtune.service.dialogue import Dialogue
from svddtune.service.names import session_name
from svddtune.state.errors import NotFound
from svddtune.state.session import (
    DatasetId,
    LabelCounts,
    Lease,
    LeaseOutcome,
    ServeOrder,
    Session,
    SessionId,
    SessionState,
)
from svddtune.v1 import dataset_pb2, oracle_pb2

SESSION_IDS = tuple(SessionId(f"p00-0123456789abcdef012{i}") for i in range(4))
SESSION_ID = SESSION_IDS[0]
SESSION = f"sessions/{SESSION_ID}"
LEASE_S = 60.0
REDIS_AHEAD_S = 1000.0


def hello(**changes: Any) -> oracle_pb2.ConverseRequest:
    """A greeting to one session."""
    values: dict[str, Any] = {
        "min_protocol_version": 1,
        "labeler": "ann",
        "sessions": [SESSION],
        "credit": 2,
    }
    return oracle_pb2.ConverseRequest(hello=oracle_pb2.Hello(**(values | changes)))


def answer(lease: Lease, **changes: Any) -> oracle_pb2.ConverseRequest:
    """An answer to a leased query."""
    values: dict[str, Any] = {
        "answer_id": f"answer-{lease.lease_id}",
        "query": lease.query,
        "lease_id": lease.lease_id,
        "verdict": 1,
    }
    return oracle_pb2.ConverseRequest(answer=oracle_pb2.Answer(**(values | changes)))


def unknown(request_id: str = "") -> oracle_pb2.ConverseRequest:
    """An item of a later version: field 99."""
    request = oracle_pb2.ConverseRequest.FromString(b"\x9a\x06\x00")
    request.request_id = request_id
    return request


@dataclass
class Stored:
    """A session as the store has it, with the leases of this one holder."""

    session_id: SessionId = SESSION_ID
    state: SessionState = SessionState.LABELING
    finish_reason: str = ""
    withdrawn: bool = False
    version: int = 1
    priority: int = 0
    leases: dict[int, Lease] = field(default_factory=dict)
    queries: int = 0
    available: int = 0

    def session(self) -> Session:
        """What ``SessionStore.get`` returns."""
        return Session(
            id=self.session_id,
            dataset_id=DatasetId("0" * 32),
            display_name="",
            config=SessionConfig(lease_seconds=LEASE_S, priority=self.priority),
            state=self.state,
            counts=LabelCounts(),
            observation_count=100,
            query_count=0,
            leased_count=0,
            gamma=0.0,
            scaling=dataset_pb2.SCALING_KIND_UNSPECIFIED,
            alignment=0.0,
            live=b"",
            atlas_progress=0.0,
            revision=0,
            finish_reason="",
            failure=None,
            created_ms=SESSION_IDS.index(self.session_id),
            updated_ms=0,
            version=self.version,
        )

    @property
    def lease_ids(self) -> set[str]:
        """What this holder holds."""
        return {lease.lease_id for lease in self.leases.values()}

    def lease(self, most: int, redis_ms: int) -> LeaseOutcome:
        """What ``SessionStore.lease`` returns."""
        for query, lease in list(self.leases.items()):
            if lease.expires_ms <= redis_ms:
                del self.leases[query]
                self.available += 1
        while self.state is SessionState.LABELING and self.available and len(self.leases) < most:
            self.available -= 1
            self.queries += 1
            self.leases[self.queries] = Lease(
                query=self.queries,
                row=self.queries,
                lease_id=f"lease-{SESSION_IDS.index(self.session_id)}-{self.queries}",
                expires_ms=redis_ms + round(LEASE_S * 1000),
            )
        return LeaseOutcome(
            state=self.state,
            finish_reason=self.finish_reason,
            leases=tuple(self.leases.values()),
            now_ms=redis_ms,
            lease_seconds=LEASE_S,
            withdrawn=self.withdrawn,
        )


@dataclass
class FakeStore:
    """The dialogue and its store, which holds one session where it is given no others."""

    dialogue: Dialogue = field(default_factory=Dialogue)
    now: float = 5.0
    stored: dict[SessionId, Stored] = field(default_factory=lambda: {SESSION_ID: Stored()})
    sent: list[oracle_pb2.ConverseResponse] = field(default_factory=list)
    assigned: list[tuple[SessionId, Lease]] = field(default_factory=list)
    looks: list[tuple[SessionId, int]] = field(default_factory=list)
    ended: bool = False
    released: list[SessionId] = field(default_factory=list)

    @property
    def only(self) -> Stored:
        """The first session."""
        return self.stored[SESSION_ID]

    @property
    def queries(self) -> list[Lease]:
        """What was assigned, in order."""
        return [lease for _, lease in self.assigned]

    @property
    def open_count(self) -> int:
        """Queries that the store has leased to this holder."""
        return sum(len(one.leases) for one in self.stored.values())

    @property
    def redis_ms(self) -> int:
        """Redis's clock."""
        return round((self.now + REDIS_AHEAD_S) * 1000)

    def say(self, request: oracle_pb2.ConverseRequest) -> None:
        """The client says something."""
        self.perform(self.dialogue.received(request, self.now))

    def change(self, session_id: SessionId = SESSION_ID, concerned: bool = True) -> None:
        """The session changes, and a notice says so."""
        one = self.stored[session_id]
        one.version += 1
        serving = self.dialogue.servings.get(session_id)
        if serving is not None:
            serving.serve_order = ServeOrder(one.priority, serving.serve_order.created_ms)
        self.perform(self.dialogue.changed(session_id, concerned, self.now))

    def expire(self) -> None:
        """All leases run out, and a notice says so."""
        self.now += LEASE_S + 1
        for session_id in self.stored:
            self.change(session_id)

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds
        self.perform(self.dialogue.woken(self.now))

    def perform(self, wanted: list[commands.Command]) -> None:
        """Carry out commands as a stream does."""
        for command in wanted:
            assert not self.ended
            self.perform(self._outcome(command))

    def outcomes(self) -> list[str]:
        """The request ids of all Acks and Rejects, in order."""
        return [
            getattr(response, kind).request_id
            for response, kind in zip(self.sent, self.kinds(), strict=True)
            if kind in ("ack", "reject")
        ]

    def kinds(self) -> list[str]:
        """What was sent, by kind."""
        return [str(response.WhichOneof("message")) for response in self.sent]

    def _outcome(self, command: commands.Command) -> list[commands.Command]:
        match command:
            case commands.Send(response):
                self.sent.append(response)
            case commands.Open(session_ids):
                found = [self._find(session_id) for session_id in session_ids or self.stored]
                return self.dialogue.opened([one.session() for one in found], self.now)
            case commands.Look():
                wanted = self.dialogue.wanted(self.now)
                if wanted is not None:
                    session_id, request = wanted
                    self.looks.append((session_id, request.most))
                    outcome = self.stored[session_id].lease(request.most, self.redis_ms)
                    return self.dialogue.looked(session_id, outcome, self.now)
            case commands.Deliver(session_id, leases):
                self.assigned += [(session_id, lease) for lease in leases]
            case commands.Report(session_id):
                return self.dialogue.reported(self.stored[session_id].session())
            case commands.Apply(session_ids, item, request_id, _):
                acks = {}
                for session_id in session_ids:
                    ack = self._ack(self.stored[session_id], item)
                    if ack is None:
                        lost = status_pb2.Status(code=9)
                        return self.dialogue.refused(item, request_id, lost, session_id)
                    acks[session_id] = ack
                return self.dialogue.applied(item, request_id, acks)
            case commands.Refuse(item, request_id, error):
                status = status_pb2.Status(message=error.message)
                return self.dialogue.refused(item, request_id, status)
            case commands.ReleaseAll(session_id):
                self.released.append(session_id)
                self.stored[session_id].leases.clear()
            case commands.End():
                self.ended = True
        return []

    def _find(self, session_id: SessionId) -> Stored:
        if session_id not in self.stored:
            raise NotFound("SESSION_NOT_FOUND", f"There is no session {session_id}.")
        return self.stored[session_id]

    def _ack(self, one: Stored, item: commands.Item) -> oracle_pb2.Ack | None:
        """Apply an item to a session; None where the lease is lost."""
        ack = oracle_pb2.Ack(
            session=session_name(one.session_id), disposition=oracle_pb2.Ack.DISPOSITION_APPLIED
        )
        match item:
            case oracle_pb2.Answer():
                if item.query not in one.leases:
                    return None
                ack.answer_id, ack.query = item.answer_id, item.query
                del one.leases[item.query]
            case oracle_pb2.Release():
                ack.lost_lease_ids.extend(set(item.lease_ids) - one.lease_ids)
                for query, lease in list(one.leases.items()):
                    if lease.lease_id in (item.lease_ids or [lease.lease_id]):
                        del one.leases[query]
            case oracle_pb2.Extend():
                expires_ms = self.redis_ms + round(LEASE_S * 1000)
                ack.lost_lease_ids.extend(set(item.lease_ids) - one.lease_ids)
                for query, lease in one.leases.items():
                    if lease.lease_id in (item.lease_ids or [lease.lease_id]):
                        one.leases[query] = replace(lease, expires_ms=expires_ms)
                        ack.extended.add(lease_id=lease.lease_id).expire_time.FromMilliseconds(
                            expires_ms
                        )
        return ack
