"""The pure dialogue: promises that hold whatever both sides and the session do."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from google.rpc import status_pb2
from hypothesis import given
from hypothesis import strategies as st

from svddtune.service import oracle
from svddtune.service.oracle import Dialogue
from svddtune.service.serving import RETRY_S
from svddtune.state.errors import InvalidInput, NotFound, StateError
from svddtune.state.session import (
    DatasetId,
    LabelCounts,
    Lease,
    LeaseOutcome,
    Session,
    SessionConfig,
    SessionId,
    SessionState,
)
from svddtune.v1 import oracle_pb2

SESSION_ID = SessionId("p00-0123456789abcdef0123")
SESSION = f"sessions/{SESSION_ID}"
LEASE_S = 60.0
REDIS_AHEAD_S = 1000.0


def session(state: SessionState = SessionState.LABELING, version: int = 1) -> Session:
    return Session(
        id=SESSION_ID,
        dataset_id=DatasetId("0" * 32),
        display_name="",
        config=SessionConfig(lease_s=LEASE_S),
        state=state,
        counts=LabelCounts(),
        observation_count=100,
        query_count=0,
        leased_count=0,
        gamma=0.0,
        alignment=0.0,
        live=b"",
        atlas_progress=0.0,
        revision=0,
        finish_reason="",
        failure=None,
        created_ms=0,
        updated_ms=0,
        version=version,
    )


def hello(**changes: Any) -> oracle_pb2.ConverseRequest:
    values: dict[str, Any] = {
        "protocol_version": 1,
        "labeler": "ann",
        "sessions": [SESSION],
        "credit": 2,
    }
    return oracle_pb2.ConverseRequest(hello=oracle_pb2.Hello(**(values | changes)))


def answer(lease: Lease, **changes: Any) -> oracle_pb2.ConverseRequest:
    values: dict[str, Any] = {
        "answer_id": f"answer-{lease.lease_id}",
        "query": lease.query,
        "lease_id": lease.lease_id,
        "verdict": 1,
    }
    return oracle_pb2.ConverseRequest(answer=oracle_pb2.Answer(**(values | changes)))


@dataclass
class World:
    """The rest of the world: a store with leases, a clock, and what was sent to the client."""

    dialogue: Dialogue = field(default_factory=Dialogue)
    now: float = 5.0
    state: SessionState = SessionState.LABELING
    finish_reason: str = ""
    version: int = 1
    leases: dict[int, Lease] = field(default_factory=dict)
    queries: int = 0
    available: int = 0
    sent: list[oracle_pb2.ConverseResponse] = field(default_factory=list)
    assigned: list[Lease] = field(default_factory=list)
    looks: list[int] = field(default_factory=list)
    ended: bool = False
    released: bool = False

    @property
    def redis_ms(self) -> int:
        return round((self.now + REDIS_AHEAD_S) * 1000)

    def say(self, request: oracle_pb2.ConverseRequest) -> None:
        self.perform(self.dialogue.received(request, self.now))

    def change(self) -> None:
        self.version += 1
        self.perform(self.dialogue.changed(SESSION_ID, True, self.now))

    def expire(self) -> None:
        """All leases run out, and a notice says so."""
        self.now += LEASE_S + 1
        self.change()

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.perform(self.dialogue.woken(self.now))

    def perform(self, commands: list[oracle.Command]) -> None:
        for command in commands:
            assert not self.ended
            self.perform(self._outcome(command))

    def _outcome(self, command: oracle.Command) -> list[oracle.Command]:
        match command:
            case oracle.Send(response):
                self.sent.append(response)
            case oracle.Open():
                return self.dialogue.opened([session(self.state, self.version)], self.now)
            case oracle.Look(session_id, asking):
                self.looks.append(asking.most)
                return self.dialogue.looked(session_id, self._lease(asking.most), self.now)
            case oracle.Deliver(_, leases):
                self.assigned += leases
            case oracle.Report():
                return self.dialogue.reported(session(self.state, self.version))
            case oracle.Apply(_, request, _):
                return self._apply(request)
            case oracle.Refuse(request, error):
                return self.dialogue.refused(request, status_pb2.Status(message=error.message))
            case oracle.ReleaseAll():
                self.released = True
                self.leases.clear()
            case oracle.End():
                self.ended = True
        return []

    def _lease(self, most: int) -> LeaseOutcome:
        for query, lease in list(self.leases.items()):
            if lease.expires_ms <= self.redis_ms:
                del self.leases[query]
                self.available += 1
        while self.state is SessionState.LABELING and self.available and len(self.leases) < most:
            self.available -= 1
            self.queries += 1
            self.leases[self.queries] = Lease(
                query=self.queries,
                row=self.queries,
                lease_id=f"lease-{self.queries}",
                expires_ms=self.redis_ms + round(LEASE_S * 1000),
                score=0.5,
                rule="lama",
            )
        return LeaseOutcome(
            state=self.state,
            finish_reason=self.finish_reason,
            leases=tuple(self.leases.values()),
            now_ms=self.redis_ms,
            next_expiry_ms=0,
            lease_s=LEASE_S,
        )

    def _apply(self, request: oracle_pb2.ConverseRequest) -> list[oracle.Command]:
        kind = request.WhichOneof("message")
        if kind == "answer" and request.answer.query not in self.leases:
            return self.dialogue.refused(request, status_pb2.Status(code=9))
        ack = oracle_pb2.Ack(disposition=oracle_pb2.Ack.DISPOSITION_APPLIED)
        if kind == "answer":
            ack.answer_id, ack.query = request.answer.answer_id, request.answer.query
            del self.leases[request.answer.query]
        elif kind == "release":
            for query, lease in list(self.leases.items()):
                if lease.lease_id in (request.release.lease_ids or [lease.lease_id]):
                    del self.leases[query]
        elif kind == "extend":
            expires_ms = self.redis_ms + round(LEASE_S * 1000)
            ack.lease_expire_time.FromMilliseconds(expires_ms)
            self.leases = {
                query: replace(lease, expires_ms=expires_ms) for query, lease in self.leases.items()
            }
        return self.dialogue.applied(SESSION_ID, request, ack, self.now)

    def kinds(self) -> list[str]:
        return [str(response.WhichOneof("message")) for response in self.sent]


def begun(credit: int = 2, available: int = 0) -> World:
    world = World(available=available)
    world.say(hello(credit=credit))
    return world


def test_welcome_comes_first_and_then_queries_up_to_the_credit() -> None:
    world = begun(credit=2, available=5)
    assert world.kinds() == ["welcome"]
    welcome = world.sent[0].welcome
    assert welcome.protocol_version == 1
    assert welcome.lease_s == LEASE_S
    assert 0 < welcome.heartbeat_s < LEASE_S / 2
    assert [lease.query for lease in world.assigned] == [1, 2]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"protocol_version": 0}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"protocol_version": 2}, "PROTOCOL_VERSION_UNSUPPORTED"),
        ({"labeler": ""}, "INVALID_FIELD"),
        ({"labeler": "no blanks"}, "INVALID_FIELD"),
        ({"labeler": "x" * 65}, "INVALID_FIELD"),
        ({"sessions": [SESSION] * 101}, "INVALID_FIELD"),
        ({"sessions": ["p00"]}, "INVALID_NAME"),
        ({"sessions": ["sessions/none"]}, "SESSION_NOT_FOUND"),
        ({"credit": 1001}, "INVALID_FIELD"),
        ({"kind": 7}, "INVALID_FIELD"),
        ({"resume_token": "../"}, "INVALID_FIELD"),
    ],
)
def test_wrong_hello_ends_the_stream(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StateError) as refusal:
        World().say(hello(**changes))
    assert refusal.value.reason == reason


def test_supported_version_is_named() -> None:
    with pytest.raises(InvalidInput) as refusal:
        World().say(hello(protocol_version=2))
    assert refusal.value.metadata["supported"] == "1"


@pytest.mark.parametrize(
    "request_",
    [
        oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1)),
        oracle_pb2.ConverseRequest(),
    ],
)
def test_hello_must_come_first(request_: oracle_pb2.ConverseRequest) -> None:
    with pytest.raises(InvalidInput) as refusal:
        World().say(request_)
    assert refusal.value.reason == "PROTOCOL_VIOLATION"


@pytest.mark.parametrize("request_", [hello(), oracle_pb2.ConverseRequest()])
def test_second_hello_and_empty_messages_end_the_stream(
    request_: oracle_pb2.ConverseRequest,
) -> None:
    world = begun()
    with pytest.raises(InvalidInput) as refusal:
        world.say(request_)
    assert refusal.value.reason == "PROTOCOL_VIOLATION"


def test_resume_token_names_the_same_holder() -> None:
    first = begun()
    token = first.sent[0].welcome.resume_token
    second = World()
    second.say(hello(resume_token=token))
    assert second.dialogue.holder == first.dialogue.holder
    assert begun().dialogue.holder != first.dialogue.holder


def test_leases_are_assigned_once_per_stream() -> None:
    world = begun(credit=1, available=1)
    world.change()
    world.change()
    assert len(world.assigned) == 1


def test_answer_is_acknowledged_and_the_next_query_waits_for_the_notice() -> None:
    world = begun(credit=1, available=1)
    world.available = 1
    world.say(answer(world.assigned[0]))
    assert world.kinds()[-1] == "ack"
    assert len(world.assigned) == 1
    world.change()
    assert len(world.assigned) == 2
    assert "revoke" not in world.kinds()


def test_fault_of_one_item_is_a_reject() -> None:
    world = begun(credit=1, available=1)
    world.say(answer(world.assigned[0], session="sessions/p00-ffffffffffffffffffff"))
    reject = world.sent[-1].reject
    assert (reject.answer_id, reject.query) == ("answer-lease-1", 1)
    world.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=1001)))
    assert world.kinds()[-1] == "reject"
    assert not world.ended


def test_more_credit_is_used_at_once() -> None:
    world = begun(credit=0, available=3)
    assert world.assigned == []
    world.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=2)))
    assert len(world.assigned) == 2


def test_expired_lease_is_revoked_and_others_come_first() -> None:
    world = begun(credit=1, available=1)
    world.expire()
    (revoke,) = (one.revoke for one in world.sent if one.HasField("revoke"))
    assert (revoke.query, revoke.reason) == (1, "EXPIRED")
    assert world.looks[-1] == 0
    assert len(world.assigned) == 1


def test_labeler_that_speaks_again_is_served_again() -> None:
    world = begun(credit=1, available=1)
    world.expire()
    world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    assert len(world.assigned) == 2


def test_labeler_that_stays_silent_is_served_again_after_a_while() -> None:
    world = begun(credit=1, available=1)
    world.expire()
    world.wait(LEASE_S + 1)
    assert len(world.assigned) == 2


def test_extended_lease_is_not_revoked() -> None:
    world = begun(credit=1, available=1)
    world.wait(LEASE_S - 1)
    world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
    world.wait(LEASE_S - 1)
    world.change()
    assert "revoke" not in world.kinds()


def test_answer_of_somebody_else_revokes() -> None:
    world = begun(credit=1, available=1)
    world.leases.clear()
    world.change()
    assert world.sent[-2].revoke.reason == "ANSWERED_BY_OTHER"
    assert world.kinds()[-1] == "progress"


def test_idle_stream_sets_no_timer() -> None:
    assert begun().dialogue.wake_at is None


def test_end_of_the_session_is_told_once_and_late_answers_are_still_taken() -> None:
    world = begun(credit=1, available=1)
    world.state, world.finish_reason = SessionState.ESTIMATING, "BUDGET_SPENT"
    world.leases.clear()
    world.change()
    world.state = SessionState.COMPLETED
    world.wait(1)
    world.change()
    finished = [one.finished for one in world.sent if one.HasField("finished")]
    assert [one.reason for one in finished] == ["BUDGET_SPENT"]
    assert next(one.revoke.reason for one in world.sent if one.HasField("revoke")) == (
        "SESSION_ENDED"
    )
    world.say(answer(world.assigned[0]))
    assert world.kinds()[-1] == "reject"
    assert not world.ended


def test_resumed_session_is_served_and_ends_once_more() -> None:
    world = begun(credit=1)
    world.state, world.finish_reason = SessionState.COMPLETED, "FINISHED"
    world.change()
    world.state, world.available = SessionState.LABELING, 1
    world.change()
    assert len(world.assigned) == 1
    world.state = SessionState.ESTIMATING
    world.change()
    assert world.kinds().count("finished") == 2


def test_progress_is_merged_when_changes_come_quickly() -> None:
    world = begun()
    for _ in range(10):
        world.change()
    assert world.kinds().count("progress") == 1
    world.wait(oracle.PROGRESS_S)
    assert world.kinds().count("progress") == 2
    assert world.sent[-1].progress.session.etag == str(world.version)


def test_deleted_session_ends_the_stream() -> None:
    world = begun()
    world.perform(world.dialogue.deleted(SESSION_ID))
    assert world.sent[-1].finished.reason == "DELETED"
    assert world.ended


@pytest.mark.parametrize("bye", [True, False])
def test_bye_and_half_close_give_leases_back(bye: bool) -> None:
    world = begun(credit=1, available=1)
    if bye:
        world.say(oracle_pb2.ConverseRequest(bye=oracle_pb2.Bye()))
    else:
        world.perform(world.dialogue.half_closed())
    assert world.released
    assert world.ended


def test_drain_keeps_leases_for_the_next_stream() -> None:
    world = begun(credit=1, available=1)
    world.perform(world.dialogue.draining("bye"))
    assert world.kinds()[-1] == "drain"
    assert world.ended
    assert not world.released


def test_unknown_session_is_not_found() -> None:
    with pytest.raises(NotFound):
        World().say(hello(sessions=["sessions/p00-xyz"]))


steps = st.lists(
    st.one_of(
        st.tuples(st.just("credit"), st.integers(0, 5)),
        st.tuples(st.just("available"), st.integers(0, 3)),
        st.tuples(st.just("answer"), st.integers(0, 20)),
        st.tuples(st.just("release"), st.just(0)),
        st.tuples(st.just("extend"), st.just(0)),
        st.tuples(st.just("change"), st.just(0)),
        st.tuples(st.just("wait"), st.integers(0, 90)),
        st.tuples(st.just("state"), st.sampled_from(list(SessionState))),
        st.tuples(st.just("stolen"), st.integers(0, 20)),
    ),
    max_size=40,
)


@given(credit=st.integers(0, 5), script=steps)
def test_promises_hold_for_every_history(credit: int, script: list[tuple[str, object]]) -> None:
    world = begun(credit=credit, available=3)
    items = 0
    most = credit
    for verb, value in script:
        if verb == "credit":
            assert isinstance(value, int)
            most = max(value, len(world.leases))
            world.say(oracle_pb2.ConverseRequest(credit=oracle_pb2.Credit(queries=value)))
        elif verb == "available":
            assert isinstance(value, int)
            world.available += value
            world.change()
        elif verb == "answer" and world.assigned:
            assert isinstance(value, int)
            items += 1
            world.say(answer(world.assigned[value % len(world.assigned)]))
        elif verb == "release":
            items += 1
            world.say(oracle_pb2.ConverseRequest(release=oracle_pb2.Release()))
        elif verb == "extend":
            items += 1
            world.say(oracle_pb2.ConverseRequest(extend=oracle_pb2.Extend()))
        elif verb == "change":
            world.change()
        elif verb == "wait":
            assert isinstance(value, int)
            world.wait(value)
        elif verb == "state":
            assert isinstance(value, SessionState)
            world.state = value
            world.change()
        elif verb == "stolen" and world.leases:
            assert isinstance(value, int)
            world.leases.pop(sorted(world.leases)[value % len(world.leases)])
            world.change()
        # Never more open queries than credit, or than were open when the credit went down.
        assert len(world.leases) <= most
    kinds = world.kinds()
    assert kinds[0] == "welcome"
    assert kinds.count("welcome") == 1
    # Each item has exactly one outcome.
    assert kinds.count("ack") + kinds.count("reject") == items
    # Each lease is assigned at most once, and revoked at most once.
    lease_ids = [lease.lease_id for lease in world.assigned]
    assert len(set(lease_ids)) == len(lease_ids)
    revoked = [one.revoke.lease_id for one in world.sent if one.HasField("revoke")]
    assert len(set(revoked)) == len(revoked)
    assert set(revoked) <= set(lease_ids)
    assert not world.ended


def test_store_that_does_not_answer_is_asked_again_later() -> None:
    world = begun(credit=1)
    assert world.dialogue.postponed(SESSION_ID, (), world.now) == []
    assert world.dialogue.wake_at == pytest.approx(world.now + RETRY_S)
    world.available = 1
    world.wait(RETRY_S)
    assert len(world.assigned) == 1


def test_query_that_could_not_be_sent_is_sent_later() -> None:
    world = begun(credit=1, available=1)
    world.dialogue.postponed(SESSION_ID, world.assigned, world.now)
    world.wait(RETRY_S)
    assert [lease.query for lease in world.assigned] == [1, 1]
