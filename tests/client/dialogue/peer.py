"""A real gRPC server with scripted replies: for streams that break off at a given point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager

import grpc
from google.rpc import status_pb2

from svddtune.v1 import common_pb2, config_pb2, oracle_pb2, oracle_pb2_grpc, tuning_pb2

SESSION = "sessions/s1"


class ServerStream:
    """One stream from the peer's side."""

    def __init__(
        self, requests: Iterator[oracle_pb2.ConverseRequest], context: grpc.ServicerContext
    ) -> None:
        self._requests = requests
        self._context = context
        self.seen: list[oracle_pb2.ConverseRequest] = []

    def take(self, kind: str) -> oracle_pb2.ConverseRequest:
        """The next message, which must be of this kind."""
        message = next(self._requests)
        self.seen.append(message)
        assert message.WhichOneof("message") == kind, (kind, message)
        return message

    def skip_to(self, kind: str) -> oracle_pb2.ConverseRequest:
        """The next message of this kind."""
        for message in self._requests:
            self.seen.append(message)
            if message.WhichOneof("message") == kind:
                return message
        raise AssertionError(f"the stream ended before {kind}")

    def rest(self) -> list[str]:
        """Kinds of all further messages, until the client ends the stream."""
        return [str(message.WhichOneof("message")) for message in self._requests]

    def abort(self, code: grpc.StatusCode, text: str = "") -> None:
        """End the stream with an error."""
        self._context.abort(code, text)


Script = Callable[[ServerStream], Iterator[oracle_pb2.ConverseResponse]]


class _Peer(oracle_pb2_grpc.OracleServiceServicer):
    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self._scripts = list(scripts)
        self.faults: list[BaseException] = []

    def Converse(  # noqa: N802
        self,
        request_iterator: Iterator[oracle_pb2.ConverseRequest],
        context: grpc.ServicerContext,
    ) -> Iterator[oracle_pb2.ConverseResponse]:
        if not self._scripts:
            context.abort(grpc.StatusCode.UNAVAILABLE, "no script left")
        try:
            yield from self._scripts.pop(0)(ServerStream(request_iterator, context))
        except AssertionError as fault:
            self.faults.append(fault)
            raise


@contextmanager
def peer(*scripts: Script) -> Iterator[str]:
    """Serve one script a stream; yields the address, fails where a script does."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    servicer = _Peer(scripts)  # type: ignore[abstract]
    oracle_pb2_grpc.add_OracleServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()
    assert servicer.faults == []


def session(
    state: tuning_pb2.SessionState = tuning_pb2.SESSION_STATE_LABELING,
    total: int = 0,
    *,
    name: str = SESSION,
    lease_seconds: float = 0.0,
) -> tuning_pb2.Session:
    return tuning_pb2.Session(
        name=name,
        state=state,
        counts=common_pb2.LabelCounts(inlier=total, total=total),
        config=config_pb2.SessionConfig(lease_seconds=lease_seconds),
    )


def welcome(
    token: str = "t1",
    *,
    lease_seconds: float = 60.0,
    heartbeat_seconds: float = 20.0,
    several: bool = False,
) -> oracle_pb2.ConverseResponse:
    return oracle_pb2.ConverseResponse(
        welcome=oracle_pb2.Welcome(
            resume_token=token,
            lease_seconds=lease_seconds,
            heartbeat_seconds=heartbeat_seconds,
            protocol_version=1,
            session=None if several else session(),
        )
    )


def progress(about: tuning_pb2.Session) -> oracle_pb2.ConverseResponse:
    return oracle_pb2.ConverseResponse(progress=oracle_pb2.Progress(session=about))


def assign(
    number: int, lease: str = "", row: int | None = None, *, name: str = SESSION
) -> oracle_pb2.ConverseResponse:
    row = number if row is None else row
    lease = lease or f"lease-{number}" + ("" if name == SESSION else f" of {name}")
    return oracle_pb2.ConverseResponse(
        assign=oracle_pb2.Assign(
            session=name,
            query=number,
            observation_id=f"obs-{row}",
            row=row,
            features=[1.0, 2.0],
            lease_id=lease,
            display=[common_pb2.DisplayField(key="host", value="db-7")],
        )
    )


def ack(request: oracle_pb2.ConverseRequest, total: int = 1) -> oracle_pb2.ConverseResponse:
    """The Ack for an answer, retraction, skip or release."""
    kind = request.WhichOneof("message")
    message = oracle_pb2.Ack(
        request_id=request.request_id,
        disposition=oracle_pb2.Ack.DISPOSITION_APPLIED,
        counts=common_pb2.LabelCounts(inlier=total, total=total),
    )
    message.session = getattr(request, str(kind)).session
    if kind == "skip":
        message.query = request.skip.query
    elif kind == "retract":
        message.answer_id = request.retract.answer_id
    elif kind == "answer":
        message.answer_id = request.answer.answer_id
        message.query = request.answer.query
    return oracle_pb2.ConverseResponse(ack=message)


def reject(
    request: oracle_pb2.ConverseRequest, status: status_pb2.Status
) -> oracle_pb2.ConverseResponse:
    """The Reject for an answer, retraction or skip."""
    item = getattr(request, str(request.WhichOneof("message")))
    return oracle_pb2.ConverseResponse(
        reject=oracle_pb2.Reject(
            answer_id=getattr(item, "answer_id", ""),
            query=getattr(item, "query", 0),
            session=item.session,
            status=status,
            request_id=request.request_id,
        )
    )


def finished(reason: str = "BUDGET_SPENT", *, name: str = "") -> oracle_pb2.ConverseResponse:
    """Nothing more is asked: in the only session, or in the one named."""
    about = session(tuning_pb2.SESSION_STATE_ESTIMATING, name=name) if name else None
    why = f"FINISH_REASON_{reason}"
    return oracle_pb2.ConverseResponse(finished=oracle_pb2.Finished(reason=why, session=about))
