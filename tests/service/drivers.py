"""Labelers by stream and by unary calls behind one interface: the promises hold for both."""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.rpc import status_pb2
from tests.service.harness import CALL_S, INLIER, Harness, Labeler
from tests.service.support import error_info, status_of

from svddtune.client.wire import convert
from svddtune.v1 import oracle_pb2

TRANSPORTS = ("stream", "unary")


@dataclass
class Refused(Exception):
    """An item was refused; the labeler may go on."""

    status: status_pb2.Status

    @property
    def reason(self) -> str:
        """The stable reason."""
        return str(error_info(self.status).reason)

    @property
    def metadata(self) -> dict[str, str]:
        """The values that the text names."""
        return dict(error_info(self.status).metadata)


class Driver(ABC):
    """One labeler in one session, or in any where the session is ""."""

    def __init__(self, session: str) -> None:
        self._session = session

    @abstractmethod
    def take(self, most: int = 1) -> list[oracle_pb2.Assign]:
        """What it holds after asking for queries until it has so many; does not wait."""

    @abstractmethod
    def wait(self, count: int = 1) -> list[oracle_pb2.Assign]:
        """What it holds, once that are so many."""

    @abstractmethod
    def rest(self) -> None:
        """Ask for nothing more until the next ``take`` or ``wait``."""

    @abstractmethod
    def do(self, **item: Any) -> oracle_pb2.Ack:
        """Send an item, e.g. ``do(extend=Extend())``: its Ack. Raises Refused."""

    @abstractmethod
    def finished(self) -> str:
        """Why nothing more is asked, once that is so."""

    def answer(
        self, assign: oracle_pb2.Assign, verdict: int = INLIER, **changes: Any
    ) -> oracle_pb2.Ack:
        """Answer a query."""
        values: dict[str, Any] = {
            "answer_id": uuid.uuid4().hex,
            "session": assign.session,
            "query": assign.query,
            "lease_id": assign.lease_id,
            "verdict": verdict,
        }
        return self.do(answer=oracle_pb2.Answer(**(values | changes)))

    def label(self, observation_id: str, verdict: int = INLIER, **changes: Any) -> oracle_pb2.Ack:
        """Label an observation unasked."""
        values: dict[str, Any] = {"answer_id": uuid.uuid4().hex, "observation_id": observation_id}
        return self.do(answer=oracle_pb2.Answer(**(values | {"verdict": verdict} | changes)))

    def skip(self, assign: oracle_pb2.Assign, mode: int = 0) -> oracle_pb2.Ack:
        """Pass on a query."""
        item = {"session": assign.session, "query": assign.query, "lease_id": assign.lease_id}
        return self.do(skip=oracle_pb2.Skip(**item, mode=mode))  # type: ignore[arg-type]

    def retract(self, observation_id: str, **changes: Any) -> oracle_pb2.Ack:
        """Withdraw a vote."""
        values: dict[str, Any] = {"answer_id": uuid.uuid4().hex, "observation_id": observation_id}
        return self.do(retract=oracle_pb2.Retract(**(values | changes)))

    def extend(self, *lease_ids: str) -> oracle_pb2.Ack:
        """Extend leases."""
        return self.do(extend=oracle_pb2.Extend(lease_ids=lease_ids))

    def release(self, *lease_ids: str) -> oracle_pb2.Ack:
        """Give queries back."""
        return self.do(release=oracle_pb2.Release(lease_ids=lease_ids))


class StreamDriver(Driver):
    """By stream."""

    def __init__(self, stream: Labeler, session: str) -> None:
        super().__init__(session)
        self.stream = stream
        self._held: dict[str, oracle_pb2.Assign] = {}
        self._finished = ""
        self._credit = 0

    def take(self, most: int = 1) -> list[oracle_pb2.Assign]:
        self._want(most)
        # What the stream does it does in order: this Ack comes behind what is there to take.
        self.do(retract=oracle_pb2.Retract(answer_id="?"), expected="reject")
        return list(self._held.values())

    def wait(self, count: int = 1) -> list[oracle_pb2.Assign]:
        self._want(count)
        while len(self._held) < count:
            self._note()
        return list(self._held.values())

    def rest(self) -> None:
        self._want(0)

    def do(self, *, expected: str = "ack", **item: Any) -> oracle_pb2.Ack:
        ((kind, message),) = item.items()
        if kind == "release":
            # A call that gives back asks for nothing; neither does this stream then.
            self.rest()
        self.stream.send(**item)
        while (response := self._note()).WhichOneof("message") not in ("ack", "reject"):
            pass
        if expected == "reject":
            return oracle_pb2.Ack()
        if response.HasField("reject"):
            raise Refused(response.reject.status)
        ack = response.ack
        if kind in ("answer", "skip"):
            self._forget(lambda one: one.query == ack.query)
        elif kind == "release":
            named = set(message.lease_ids)
            self._forget(lambda one: not named or one.lease_id in named)
        return ack

    def finished(self) -> str:
        while not self._finished:
            self._note()
        return self._finished

    def _want(self, credit: int) -> None:
        if credit != self._credit:
            self._credit = credit
            self.stream.send(credit=oracle_pb2.Credit(queries=credit))

    def _forget(self, gone: Callable[[oracle_pb2.Assign], bool]) -> None:
        self._held = {key: one for key, one in self._held.items() if not gone(one)}

    def _note(self) -> oracle_pb2.ConverseResponse:
        response = self.stream.next()
        assert response is not None, self.stream.error
        if response.HasField("assign"):
            self._held[response.assign.lease_id] = response.assign
        elif response.HasField("revoke"):
            self._held.pop(response.revoke.lease_id)
        elif response.HasField("finished"):
            self._finished = convert.finish_reason(response.finished.reason)
        return response


class UnaryDriver(Driver):
    """By calls."""

    def __init__(self, harness: Harness, session: str, labeler: str, kind: int) -> None:
        super().__init__(session)
        self._harness = harness
        self._labeler = labeler
        self._kind = kind

    def take(self, most: int = 1) -> list[oracle_pb2.Assign]:
        return list(self._lease(most, 0).assignments)

    def wait(self, count: int = 1) -> list[oracle_pb2.Assign]:
        held: list[oracle_pb2.Assign] = []
        while len(held) < count:
            held = list(self._lease(count, 10).assignments)
        return held

    def rest(self) -> None:
        # Calls that are not made ask for nothing.
        return

    def do(self, **item: Any) -> oracle_pb2.Ack:
        ((kind, message),) = item.items()
        if not message.session:
            message.session = self._session
        request = getattr(oracle_pb2, f"{kind.title()}Request")
        call = getattr(self._harness.oracle, kind.title())
        try:
            response = call(request(labeler=self._labeler, **{kind: message}), timeout=CALL_S)
        except grpc.RpcError as error:
            raise Refused(status_of(error)) from error
        ack: oracle_pb2.Ack = response.ack
        return ack

    def finished(self) -> str:
        while not (reason := self._lease(1, 10).finish_reason):
            pass
        return convert.finish_reason(reason)

    def _lease(self, most: int, wait_s: float) -> oracle_pb2.LeaseResponse:
        request = oracle_pb2.LeaseRequest(
            session=self._session,
            labeler=self._labeler,
            max_queries=most,
            wait_seconds=wait_s,
            kind=self._kind,  # type: ignore[arg-type]
        )
        return self._harness.oracle.Lease(request, timeout=CALL_S)


def driver(
    harness: Harness, transport: str, session: str, labeler: str = "ann", kind: int = 0
) -> Driver:
    """A labeler on one of the two transports; it holds nothing yet."""
    if transport == "unary":
        return UnaryDriver(harness, session, labeler, kind)
    stream = harness.labeler(session or (), labeler, credit=0, kind=kind)
    stream.expect("welcome")
    return StreamDriver(stream, session)
