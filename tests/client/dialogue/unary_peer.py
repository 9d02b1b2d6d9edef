"""A real gRPC server without streams: sessions with queries, and calls that fail when told to."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from tests.client.dialogue.statuses import status
from tests.client.flavours import Connect

from svddtune.client import Tuning
from svddtune.v1 import common_pb2, config_pb2, oracle_pb2_grpc, tuning_pb2, tuning_pb2_grpc
from svddtune.v1 import oracle_pb2 as pb

CODE = grpc.StatusCode


class Peer(oracle_pb2_grpc.OracleServiceServicer, tuning_pb2_grpc.TuningServiceServicer):
    """Sessions with a number of queries each. Calls fail when told to, before or after they act."""

    def __init__(self, *, lease_seconds: float = 60.0, **queries: int) -> None:
        self.lease_seconds = lease_seconds
        self.changed = threading.Condition()
        self.left = {f"sessions/{name}": list(range(1, n + 1)) for name, n in queries.items()}
        self.held: dict[str, tuple[str, int]] = {}
        self.answers: dict[str, pb.Answer] = {}
        self.skipped: set[str] = set()
        self.calls: Counter[str] = Counter()
        self.faults: dict[tuple[str, str], list[grpc.StatusCode]] = {}
        self._leases = 0

    def fail(self, method: str, code: grpc.StatusCode, *, when: str = "before") -> None:
        """Make the next call fail, before or after it has acted."""
        self.faults.setdefault((method, when), []).append(code)

    @property
    def broken(self) -> bool:
        """True once all calls that were to fail have failed."""
        return not any(self.faults.values())

    @contextmanager
    def _acting(self, method: str, context: grpc.ServicerContext) -> Iterator[None]:
        with self.changed:
            self.calls[method] += 1
            self._break(method, "before", context)
            yield
            self.changed.notify_all()
            self._break(method, "after", context)

    def _break(self, method: str, when: str, context: grpc.ServicerContext) -> None:
        if codes := self.faults.get((method, when)):
            context.abort(codes.pop(0), f"{method} fails {when} it acts")

    def _session(self, name: str) -> tuning_pb2.Session:
        config = config_pb2.SessionConfig(budget=9, lease_seconds=self.lease_seconds)
        return tuning_pb2.Session(
            name=name,
            state=tuning_pb2.SESSION_STATE_LABELING,
            config=config,
            counts=self._counts(),
            etag=str(len(self.answers)),
        )

    def _counts(self) -> common_pb2.LabelCounts:
        total = len(self.answers)
        return common_pb2.LabelCounts(inlier=total, total=total)

    def GetSession(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("GetSession", context):
            if request.name not in self.left:
                context.abort(CODE.NOT_FOUND, "no such session")
            return tuning_pb2.GetSessionResponse(session=self._session(request.name))

    def Lease(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("Lease", context):
            names = [request.session] if request.session else list(self.left)
            if not set(names) <= set(self.left):
                context.abort(CODE.NOT_FOUND, "no such session")
            self.changed.wait_for(lambda: self._free(names), timeout=request.wait_seconds)
            for name in names:
                while self.left[name] and self._count(names) < request.max_queries:
                    self._leases += 1
                    self.held[f"lease-{self._leases}"] = (name, self.left[name].pop(0))
            mine = [self._assign(lease) for lease, (name, _) in self.held.items() if name in names]
            response = pb.LeaseResponse(assignments=mine)
            if request.session:
                response.session.CopyFrom(self._session(request.session))
                if not mine and not self.left[request.session]:
                    response.finish_reason = pb.FINISH_REASON_BUDGET_SPENT
            return response

    def _free(self, names: list[str]) -> bool:
        return any(self.left[name] for name in names) or self._count(names) > 0 or len(names) == 1

    def _count(self, names: list[str]) -> int:
        return sum(1 for name, _ in self.held.values() if name in names)

    def _assign(self, lease: str) -> pb.Assign:
        name, number = self.held[lease]
        observation_id = f"obs-{number}"
        return pb.Assign(session=name, query=number, observation_id=observation_id, lease_id=lease)

    def Answer(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("Answer", context):
            answer = request.answer
            if answer.answer_id not in self.answers:
                if answer.lease_id and self.held.pop(answer.lease_id, None) is None:
                    _lease_lost(context)
                self.answers[answer.answer_id] = answer
            return pb.AnswerResponse(ack=self._ack(answer))

    def _ack(self, item: Any) -> pb.Ack:
        return pb.Ack(
            answer_id=getattr(item, "answer_id", ""),
            query=getattr(item, "query", 0),
            disposition=pb.Ack.DISPOSITION_APPLIED,
            counts=self._counts(),
        )

    def Skip(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("Skip", context):
            lease_id = request.skip.lease_id
            if self.held.pop(lease_id, None) is not None:
                self.skipped.add(lease_id)
            elif lease_id not in self.skipped:
                _lease_lost(context)
            return pb.SkipResponse(ack=self._ack(request.skip))

    def Retract(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("Retract", context):
            return pb.RetractResponse(ack=self._ack(request.retract))

    def Extend(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("Extend", context):
            lost = [lease for lease in request.extend.lease_ids if lease not in self.held]
            return pb.ExtendResponse(ack=pb.Ack(lost_lease_ids=lost))

    def Release(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._acting("Release", context):
            for lease, (name, number) in list(self.held.items()):
                named = request.release.lease_ids
                if name == request.release.session and (not named or lease in named):
                    del self.held[lease]
                    self.left[name].insert(0, number)
            return pb.ReleaseResponse(ack=pb.Ack())


def _lease_lost(context: grpc.ServicerContext) -> None:
    details = status(CODE.FAILED_PRECONDITION.value[0], "LEASE_LOST").SerializeToString()
    context.set_trailing_metadata((("grpc-status-details-bin", details),))
    context.abort(CODE.FAILED_PRECONDITION, "the lease is lost")


def peer(**options: Any) -> Peer:
    """A peer with queries by session: ``peer(a=3)`` asks three in sessions/a."""
    return Peer(**options)  # type: ignore[abstract]


@contextmanager
def talking(
    connect: Connect, peer: Peer, sessions: Any = "sessions/a", **options: Any
) -> Iterator[Tuning]:
    """A dialogue by unary calls."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    oracle_pb2_grpc.add_OracleServiceServicer_to_server(peer, server)
    tuning_pb2_grpc.add_TuningServiceServicer_to_server(peer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with (
            connect(f"127.0.0.1:{port}", timeout_s=10) as client,
            client.tuning(sessions, stream=False, labeler="ann", **options) as tuning,
        ):
            yield tuning
    finally:
        server.stop(0).wait()
