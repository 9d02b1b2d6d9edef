"""Whatever breaks whenever: what a client said has one effect, and both sides agree in the end."""

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from google.rpc import code_pb2
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.dialogue.peer import ack, assign, reject, welcome
from tests.client.dialogue.statuses import status
from tests.profiles import sized

from svddtune.client import Ack, LeaseLost, Query, SkipMode, Verdict
from svddtune.client.dialogue.machine import Dialogue
from svddtune.v1 import oracle_pb2 as pb

SESSIONS = ("sessions/a", "sessions/b")


@dataclass
class Server:
    """The server's promises by definition: leases, and one effect an answer id."""

    credit: int
    asked: int = 0
    leases: dict[str, tuple[str, int]] = field(default_factory=dict)
    effects: list[str] = field(default_factory=list)
    acks: dict[str, pb.ConverseResponse] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def hello(self) -> list[pb.ConverseResponse]:
        again = [assign(n, lease, name=name) for lease, (name, n) in self.leases.items()]
        return [welcome(several=True), *again, *self.ask()]

    def ask(self) -> list[pb.ConverseResponse]:
        new = []
        while len(self.leases) < self.credit:
            self.asked += 1
            name, lease = SESSIONS[self.asked % 2], f"lease-{self.asked}"
            self.leases[lease] = (name, self.asked)
            new.append(assign(self.asked, lease, name=name))
        return new

    def hear(self, request: pb.ConverseRequest) -> list[pb.ConverseResponse]:
        lost = status(code_pb2.FAILED_PRECONDITION, "LEASE_LOST")
        kind = request.WhichOneof("message")
        if kind == "answer":
            answer = request.answer
            if answer.answer_id not in self.acks:
                if answer.lease_id not in self.leases:
                    return [reject(request, lost)]
                del self.leases[answer.lease_id]
                self.effects.append(answer.answer_id)
                self.acks[answer.answer_id] = ack(request)
            return [self.acks[answer.answer_id], *self.ask()]
        if kind == "skip":
            if self.leases.pop(request.skip.lease_id, None) is not None:
                self.skipped.add(request.skip.lease_id)
            elif request.skip.lease_id not in self.skipped:
                return [reject(request, lost)]
            return [ack(request), *self.ask()]
        if kind == "release":
            for lease in request.release.lease_ids:
                self.leases.pop(lease, None)
            return [ack(request), *self.ask()]
        assert kind == "extend"
        gone = [lease for lease in request.extend.lease_ids if lease not in self.leases]
        name = request.extend.session
        return [pb.ConverseResponse(ack=pb.Ack(session=name, lost_lease_ids=gone))]

    def expire(self, index: int) -> None:
        """A lease ends; the labeler is not told (its stream is down)."""
        if self.leases:
            del self.leases[sorted(self.leases)[index % len(self.leases)]]


class Line:
    """One client, one server, and what is under way between them."""

    def __init__(self, credit: int) -> None:
        self.server = Server(credit)
        self.stream = Dialogue(SESSIONS, labeler="ann", kind="human", credit=credit)
        self.up: deque[pb.ConverseRequest] = deque()
        self.down: deque[pb.ConverseResponse] = deque()
        self.held: list[Query] = []
        self.futures: list[tuple[str, Future[Ack]]] = []
        self.given_back: set[str] = set()
        self.connect()

    def connect(self) -> None:
        self.stream.hello()
        self.up.clear()
        self.down = deque(self.server.hello())

    def cut(self) -> None:
        """The stream breaks; what is under way is lost."""
        self.stream.welcomed = False
        self.up.clear()
        self.down.clear()

    def step_server(self) -> None:
        if self.up:
            self.down.extend(self.server.hear(self.up.popleft()))

    def step_client(self) -> None:
        if self.down:
            self.up.extend(self.stream.receive(self.down.popleft(), 0.0))
        while (query := self.stream.take()) is not None:
            self.held.append(query)

    def say(self, what: str) -> None:
        if not self.held:
            return
        query = self.held.pop(0)
        if what == "answer":
            message, future = self.stream.answer(query, Verdict.INLIER, 0.0)
            self.futures.append((message.answer.answer_id, future))
        elif what == "skip":
            message, future = self.stream.skip(query, SkipMode.LATER)
            self.futures.append(("", future))
        else:
            message = self.stream.release(query)
            self.given_back.add(query.lease_id)
        if self.stream.welcomed:
            self.up.append(message)

    def run_dry(self) -> None:
        while self.up or self.down:
            self.step_server()
            self.step_client()


@settings(max_examples=sized(800))
@given(
    credit=st.integers(1, 4),
    steps=st.lists(
        st.sampled_from(
            ["server", "client", "client", "answer", "skip", "release", "cut", "connect", "expire"]
        ),
        min_size=4,
        max_size=60,
    ),
)
def test_client_and_server_agree_after_any_sequence_of_breaks(
    credit: int, steps: list[str]
) -> None:
    line = Line(credit)
    connected = True
    for index, step in enumerate(steps):
        if step == "server" and connected:
            line.step_server()
        elif step == "client" and connected:
            line.step_client()
        elif step in ("answer", "skip", "release"):
            line.say(step)
        elif step == "cut":
            line.cut()
            connected = False
        elif step == "connect":
            line.cut()
            line.connect()
            connected = True
        elif step == "expire" and not connected:
            line.server.expire(index)
    line.cut()
    line.connect()
    line.run_dry()

    assert line.stream.idle
    assert len(line.server.effects) == len(set(line.server.effects))
    for answer_id, future in line.futures:
        error = future.exception(0)
        assert error is None or isinstance(error, LeaseLost)
        if answer_id:
            assert (answer_id in line.server.effects) is (error is None)
    assert not line.given_back & set(line.server.leases)
    still = {query.lease_id for query in line.held if line.stream.is_open(query)}
    assert still == set(line.server.leases)
