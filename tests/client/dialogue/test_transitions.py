"""The table of transitions in the docstring of the state machine, executed row by row."""

import re
from collections.abc import Callable

import pytest
from google.rpc import code_pb2
from tests.client.dialogue.peer import SESSION, ack, assign, finished, reject, welcome
from tests.client.dialogue.statuses import status

from svddtune.client import Query, SkipMode, Verdict
from svddtune.client.dialogue import machine
from svddtune.client.dialogue.machine import Dialogue
from svddtune.v1 import oracle_pb2 as pb


class Scene:
    """One query of one dialogue, and the last message that the labeler sent about it."""

    def __init__(self, state: str) -> None:
        self.dialogue = Dialogue([SESSION], labeler="ann", kind="human", credit=1)
        self.dialogue.hello()
        self.hear(welcome())
        self.hear(assign(1, lease="first"))
        offered = self.dialogue.take() if state != "offered" else None
        self.query: Query | None = offered
        self.sent = pb.ConverseRequest()
        if state == "sent":
            self.answer()
        elif state == "gone":
            self.release()

    def hear(self, message: pb.ConverseResponse) -> None:
        """Pass a message of the server to the dialogue."""
        self.dialogue.receive(message, 0.0)

    @property
    def leased(self) -> Query:
        """The query, as a copy where the caller has not taken it."""
        if self.query is None:
            other = Dialogue([SESSION], labeler="ann", kind="human", credit=1)
            other.receive(assign(1, lease="first"), 0.0)
            self.query = other.take()
        assert self.query is not None
        return self.query

    def answer(self) -> None:
        self.sent, _ = self.dialogue.answer(self.leased, Verdict.INLIER, 0.0)

    def skip(self) -> None:
        self.sent, _ = self.dialogue.skip(self.leased, SkipMode.LATER)

    def release(self) -> None:
        self.hear(ack(self.dialogue.release(self.leased)))

    def reject(self, reason: str) -> None:
        self.hear(reject(self.sent, status(code_pb2.FAILED_PRECONDITION, reason)))

    def revoke(self) -> None:
        revoke = pb.Revoke(
            session=SESSION, query=1, lease_id="first", reason=pb.REVOKE_REASON_EXPIRED
        )
        self.hear(pb.ConverseResponse(revoke=revoke))

    def lose(self) -> None:
        self.hear(pb.ConverseResponse(ack=pb.Ack(session=SESSION, lost_lease_ids=["first"])))

    def reject_after_another_lease(self) -> None:
        self.hear(assign(1, lease="second"))
        self.reject("LEASE_LOST")

    def acknowledge_a_skip_after_another_lease(self) -> None:
        self.hear(ack(self.sent))
        self.hear(assign(1, lease="first"))
        self.dialogue.take()
        self.skip()
        self.hear(assign(1, lease="second"))
        self.hear(ack(self.sent))

    @property
    def state(self) -> str:
        if not self.dialogue.idle:
            return "sent"
        if not self.dialogue.is_open(self.leased):
            return "gone"
        return "taken" if self.dialogue.unsettled else "offered"


EVENTS: dict[str, Callable[[Scene], object]] = {
    "Assign": lambda scene: scene.hear(assign(1, lease="later")),
    "Assign of the same lease": lambda scene: scene.hear(assign(1, lease="first")),
    "Assign of another lease": lambda scene: scene.hear(assign(1, lease="second")),
    "take": lambda scene: scene.dialogue.take(),
    "answer": Scene.answer,
    "skip": Scene.skip,
    "Ack": lambda scene: scene.hear(ack(scene.sent)),
    "Ack of a skip, leased anew meanwhile": Scene.acknowledge_a_skip_after_another_lease,
    "Reject, lease lost": lambda scene: scene.reject("LEASE_LOST"),
    "Reject, other reason": lambda scene: scene.reject("INVALID_FIELD"),
    "Reject, leased anew meanwhile": Scene.reject_after_another_lease,
    "release": Scene.release,
    "Revoke": Scene.revoke,
    "Ack of Extend, lease lost": Scene.lose,
    "Finished": lambda scene: scene.hear(finished()),
}


def transitions() -> list[tuple[str, str, str]]:
    """Return (event, from, to) for each row and each state it starts from."""
    doc = machine.__doc__ or ""
    rows = re.findall(r"^    (\S.*?) {2,}([a-z]+(?:, [a-z]+)*) +([a-z]+)$", doc, re.MULTILINE)
    return [
        (event, start, end)
        for event, starts, end in rows
        if event != "event"
        for start in starts.split(", ")
    ]


@pytest.mark.parametrize(("event", "start", "end"), transitions())
def test_event_moves_the_query_to_the_state_of_the_table(event: str, start: str, end: str) -> None:
    scene = Scene(start)
    assert scene.state == start
    EVENTS[event](scene)
    assert scene.state == end


def test_table_has_every_event() -> None:
    assert {event for event, _, _ in transitions()} == set(EVENTS)
