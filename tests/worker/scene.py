"""Real stores with a worker that computes, in one process."""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tests.state.scene import Scene, ScriptedWorker

from svddtune.config import SessionConfig
from svddtune.numerics import FloatArray
from svddtune.state import codec
from svddtune.state.queue import Claim
from svddtune.state.session import DatasetId, InitialLabel, SessionId, SessionState, Verdict
from svddtune.v1 import dataset_pb2, result_pb2
from svddtune.worker.data import DataCache
from svddtune.worker.scalings import scaling_kind
from svddtune.worker.step import Steps

T = TypeVar("T")


class RealWorker(ScriptedWorker):
    """Does jobs as the worker process does."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.steps = Steps(self.workspace, DataCache(self.workspace, limit_bytes=1 << 28))

    def do(self, claim: Claim) -> None:
        """Compute and commit."""
        self.steps.run(claim)


class Workshop(Scene):
    """Stores, a dataset with its preparation and atlas, and a real worker."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.worker.close()
        self.worker: RealWorker = RealWorker(url)

    async def upload_rows(self, X: FloatArray, scaling: str = "none") -> DatasetId:
        """Store rows as the scene's dataset."""
        self.N, self.scaling = len(X), scaling_kind(scaling)
        content = X.tobytes() + scaling.encode()
        self.dataset_id = DatasetId(hashlib.sha256(content).hexdigest()[:32])
        assert codec.rows_per_chunk(X.shape[1]) >= len(X)
        await self.datasets.put_rows(self.dataset_id, 0, X.astype("<f8").tobytes())
        await self.datasets.commit(
            self.dataset_id,
            dataset_pb2.Dataset(
                observation_count=len(X), feature_count=X.shape[1], scaling=self.scaling
            ),
            chunks=1,
            has_ids=False,
            has_display=False,
        )
        return self.dataset_id

    async def tuning(
        self, *, initial: dict[int, Verdict] | None = None, **config: Any
    ) -> SessionId:
        """A session on the dataset, ready to ask."""
        session_id = await self.sessions.create(
            self.dataset_id,
            SessionConfig(**config),
            observation_count=self.N,
            scaling=self.scaling,
            initial=[InitialLabel(row, verdict) for row, verdict in (initial or {}).items()],
        )
        self.worker.work_off()
        return session_id

    async def result(self, session_id: SessionId) -> result_pb2.TuningResult:
        """The result, once the session is finished."""
        await self.sessions.finish(session_id)
        self.worker.work_off()
        session = await self.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED, session.failure
        return result_pb2.TuningResult.FromString(await self.sessions.result(session_id))


def work(url: str, act: Callable[[Workshop], Coroutine[Any, Any, T]]) -> T:
    """Run an act in a fresh workshop."""

    async def run() -> T:
        workshop = Workshop(url)
        try:
            return await act(workshop)
        finally:
            await workshop.close()

    return asyncio.run(run())
