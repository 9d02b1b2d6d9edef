"""Tools for tests of the service: raw stubs, a dataset, labelers, a scripted worker."""

import queue
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
import numpy as np
from tests.state.scene import ScriptedWorker

from svddtune.v1 import (
    common_pb2,
    config_pb2,
    dataset_pb2,
    dataset_pb2_grpc,
    oracle_pb2,
    oracle_pb2_grpc,
    scoring_pb2_grpc,
    tuning_pb2,
    tuning_pb2_grpc,
)

INLIER, OUTLIER, UNSURE = (
    common_pb2.VERDICT_INLIER,
    common_pb2.VERDICT_OUTLIER,
    common_pb2.VERDICT_UNSURE,
)
N, M = 12, 2
CALL_S = 20.0


def header(**changes: Any) -> dataset_pb2.UploadDatasetRequest:
    """First message of an upload of N x M."""
    values: dict[str, Any] = {"observation_count": N, "feature_count": M} | changes
    return dataset_pb2.UploadDatasetRequest(header=dataset_pb2.DatasetHeader(**values))


def chunk(rows: Any, **parts: Any) -> dataset_pb2.UploadDatasetRequest:
    """A further message with some rows."""
    array = np.asarray(rows, dtype="<f8")
    matrix = common_pb2.Matrix(rows=array.shape[0], columns=array.shape[1], values=array.tobytes())
    return dataset_pb2.UploadDatasetRequest(chunk=dataset_pb2.DatasetChunk(rows=matrix, **parts))


def grid(n: int = N, m: int = M) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Rows 0..n-1 with distinct finite values."""
    return np.arange(n * m, dtype=np.float64).reshape(n, m)


class Labeler:
    """One Converse stream, driven from a test."""

    def __init__(self, stub: oracle_pb2_grpc.OracleServiceStub, **hello: Any) -> None:
        self._outbox: queue.SimpleQueue[oracle_pb2.ConverseRequest | None] = queue.SimpleQueue()
        self._inbox: queue.SimpleQueue[oracle_pb2.ConverseResponse | None] = queue.SimpleQueue()
        self.call = stub.Converse(iter(self._outbox.get, None))
        self.error: grpc.RpcError | None = None
        self.seen: list[oracle_pb2.ConverseResponse] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if hello:
            self.send(hello=oracle_pb2.Hello(**({"min_protocol_version": 1, "credit": 1} | hello)))

    def _read(self) -> None:
        try:
            for response in self.call:
                self._inbox.put(response)
        except grpc.RpcError as error:
            self.error = error
        self._inbox.put(None)

    def send(self, **message: Any) -> None:
        """Send a message: ``send(credit=Credit(...))``."""
        self._outbox.put(oracle_pb2.ConverseRequest(**message))

    def answer(
        self, assign: oracle_pb2.Assign, verdict: int = INLIER, **changes: Any
    ) -> oracle_pb2.Answer:
        """Answer an assigned query."""
        values: dict[str, Any] = {
            "answer_id": uuid.uuid4().hex,
            "query": assign.query,
            "lease_id": assign.lease_id,
            "verdict": verdict,
        }
        message = oracle_pb2.Answer(**(values | changes))
        self.send(answer=message)
        return message

    def next(self) -> oracle_pb2.ConverseResponse | None:
        """The next message; None at the end of the stream."""
        response = self._inbox.get(timeout=CALL_S)
        if response is not None:
            self.seen.append(response)
        return response

    def expect(self, kind: str) -> Any:
        """The next message of a kind; others are passed over."""
        while response := self.next():
            if response.WhichOneof("message") == kind:
                return getattr(response, kind)
        raise AssertionError(f"the stream ended without {kind}: {self.error}")

    def end(self) -> grpc.RpcError | None:
        """Wait for the end of the stream: its error, None if it ended well."""
        while self.next():
            pass
        self._outbox.put(None)
        self._reader.join()
        return self.error

    def half_close(self) -> None:
        """Close the client's side of the stream."""
        self._outbox.put(None)

    def vanish(self) -> None:
        """Break the stream off."""
        self.call.cancel()  # type: ignore[no-untyped-call]
        self._outbox.put(None)
        self._reader.join()


class Harness:
    """Stubs of all services, and shortcuts that most tests need."""

    def __init__(self, channel: grpc.Channel, redis_url: str) -> None:
        self.datasets = dataset_pb2_grpc.DatasetServiceStub(channel)
        self.tuning = tuning_pb2_grpc.TuningServiceStub(channel)
        self.oracle = oracle_pb2_grpc.OracleServiceStub(channel)
        self.scoring = scoring_pb2_grpc.ScoringServiceStub(channel)
        self.redis_url = redis_url
        self._worker: ScriptedWorker | None = None
        self._labelers: list[Labeler] = []

    @property
    def worker(self) -> ScriptedWorker:
        """A worker that works when a test calls it."""
        if self._worker is None:
            self._worker = ScriptedWorker(self.redis_url)
        return self._worker

    def upload(self, *requests: dataset_pb2.UploadDatasetRequest) -> dataset_pb2.Dataset:
        """Upload a dataset, N x M by default."""
        messages = requests or (header(), chunk(grid()))
        return self.datasets.UploadDataset(iter(messages), timeout=CALL_S).dataset

    def create(self, dataset: str = "", **request: Any) -> tuning_pb2.Session:
        """Create a session, on a fresh dataset by default."""
        return self.tuning.CreateSession(
            tuning_pb2.CreateSessionRequest(dataset=dataset or self.upload().name, **request)
        ).session

    def session(self, **request: Any) -> tuning_pb2.Session:
        """Create a session that is ready to ask."""
        created = self.create(**({"config": config_pb2.SessionConfig(budget=6)} | request))
        self.worker.work_off()
        return self.get(created.name)

    def get(self, name: str) -> tuning_pb2.Session:
        """The session now."""
        return self.tuning.GetSession(tuning_pb2.GetSessionRequest(name=name)).session

    def completed(self) -> tuning_pb2.Session:
        """A session with a result."""
        name = self.session().name
        self.tuning.FinishSession(tuning_pb2.FinishSessionRequest(name=name))
        self.worker.work_off()
        return self.get(name)

    def labeler(self, session: str | Sequence[str], labeler: str = "ann", **hello: Any) -> Labeler:
        """A stream to a session, to several, or to all if none is named."""
        sessions = [session] if isinstance(session, str) else session
        self._labelers.append(Labeler(self.oracle, sessions=sessions, labeler=labeler, **hello))
        return self._labelers[-1]

    def silent(self) -> Labeler:
        """A stream that has not said hello."""
        self._labelers.append(Labeler(self.oracle))
        return self._labelers[-1]

    def label(self, session: str, observation_id: str, verdict: int = INLIER) -> oracle_pb2.Ack:
        """Label an observation unasked."""
        return self.oracle.Answer(
            oracle_pb2.AnswerRequest(
                labeler="ann",
                answer=oracle_pb2.Answer(
                    answer_id=uuid.uuid4().hex,
                    session=session,
                    observation_id=observation_id,
                    verdict=common_pb2.Verdict.Name(verdict),
                ),
            )
        ).ack

    def watch(
        self, name: str, token: str = "", *, new_events_only: bool = False
    ) -> Iterator[tuning_pb2.WatchSessionResponse]:
        """Watch a session."""
        request = tuning_pb2.WatchSessionRequest(
            name=name, resume_token=token, new_events_only=new_events_only
        )
        return iter(self.tuning.WatchSession(request, timeout=CALL_S))

    def close(self) -> None:
        """End what is open."""
        for labeler in self._labelers:
            labeler.vanish()
        if self._worker:
            self._worker.close()


def refusal(call: Callable[[], Any]) -> grpc.RpcError:
    """The error of a call that must fail."""
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call did not fail")


@contextmanager
def harness_at(address: str, redis_url: str) -> Iterator[Harness]:
    """A harness for the service at an address."""
    with grpc.insecure_channel(address) as channel:
        harness = Harness(channel, redis_url)
        try:
            yield harness
        finally:
            harness.close()
