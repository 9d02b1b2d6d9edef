"""The fixture of the tests of state: a dataset, sessions on it, and a scripted worker.

It uses the real stores and a real server. The worker computes nothing.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from google.protobuf.message import Message

from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec, keys
from svddtune.state.connect import connect, connect_async, connect_blocking
from svddtune.state.datasets import DatasetStore
from svddtune.state.models import ModelStore
from svddtune.state.queue import Claim, JobQueue
from svddtune.state.session import (
    Answer,
    BatchReceipt,
    ControlItem,
    DatasetId,
    InitialLabel,
    LabelCounts,
    Lease,
    LeaseRequest,
    RankedRow,
    Receipt,
    SessionId,
    SessionState,
    SkipMode,
    TakenLabel,
    TakenLabels,
    Verdict,
)
from svddtune.state.store import SessionStore
from svddtune.state.uploads import UploadStore
from svddtune.state.workspace import Workspace
from svddtune.v1 import dataset_pb2, oracle_pb2, result_pb2, tuning_pb2

T = TypeVar("T")
N, M = 12, 2


def explanation_of(row: int) -> oracle_pb2.Explanation:
    """What a scripted worker has to show beside a row."""
    return oracle_pb2.Explanation(
        why=f"Row {row} is next.",
        score=row / 3,
        nearby=[oracle_pb2.NearbyLabel(observation_id="near", distance2=0.5)],
        unusual=[oracle_pb2.UnusualFeature(name="load", column=1, value=9.0, deviation=-2.5)],
    )


# What a scripted worker says of a dataset of 12 x 2; its map leaves the last two rows out.
PORTRAIT = jobs_pb2.Portrait(
    features=[
        oracle_pb2.FeatureProfile(
            name=name, column=column, center=4.0 + column, points=[0.0, 9.0], shares=[0.5, 1.0]
        )
        for column, name in enumerate(("load", "disk"))
    ],
    rows=range(N - 2),
    x=range(N - 2),
    y=range(N - 2),
    explained_share=0.75,
)


def pictures_of(labels: int) -> dict[str, Message]:
    """Pictures that a scripted worker makes of a session with so many labels."""
    layer = tuning_pb2.AtlasLayer(
        scaling=dataset_pb2.SCALING_KIND_NONE,
        gammas=[1.0],
        costs=[0.5],
        scores=[labels / 8],
        outside_counts=[3],
        weights=[1.0],
    )
    rows = [N - 1, N - 2]
    return {
        "cells": tuning_pb2.GetAtlasResponse(labels=labels, layers=[layer]),
        "places": jobs_pb2.LabelledPlaces(rows=rows, x=[7.0, 8.0], y=[7.5, 8.5]),
        "margins": jobs_pb2.Margins(
            labels=labels,
            of_portrait=[row - 4.5 for row in range(N - 2)],
            rows=rows[:1],
            of_rows=[6.0],
        ),
    }


class ScriptedWorker:
    """A worker that commits simple outcomes: the lowest free rows, an empty result."""

    def __init__(self, url: str, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self.client = connect(url)
        self.queue = JobQueue(self.client, connect_blocking(url), monotonic_s=monotonic_s)
        self.queue.prepare()
        self.workspace = Workspace(self.client)
        # The prediction for all rows, +1 or -1; 0 without a model.
        self.predicts = 0
        # The last event that results say they were computed from.
        self.last_event_id = ""

    def close(self) -> None:
        """Give connections back."""
        self.client.close()
        self.queue._blocking.close()

    def work_off(self) -> list[str]:
        """Do all queued jobs; return the kinds of those of sessions, in order."""
        done = []
        while claim := self.next_claim():
            self.do(claim)
            if claim.kind != "ATLAS":
                done.append(claim.kind)
        return done

    def next_claim(self) -> Claim | None:
        """Claim the next job; None if there is none."""
        with self.client.pipeline(transaction=False) as pipe:
            for stream in self.queue._streams("hi"):
                pipe.xlen(stream)
            for key in self.queue._streams("bulk:turn"):
                pipe.zcard(key)
            waiting = any(pipe.execute())
        return self.queue.take() if waiting else None

    def do(self, claim: Claim) -> None:
        """Commit the outcome of one claim."""
        if claim.kind == "PREPARE":
            portrait = None if self.workspace.has_portrait(claim) else PORTRAIT
            self.workspace.commit_prepare(claim, {"nn": np.zeros((N, 1))}, portrait)
        elif claim.kind == "ATLAS":
            self.workspace.commit_atlas(claim, {"part": np.array(claim.job.atlas.index)})
        elif self.workspace.snapshot(claim) is None:
            # The session was deleted meanwhile.
            self.workspace.commit_nothing(claim)
        elif claim.kind == "SUGGEST":
            self.suggest(claim)
        elif claim.kind == "REFINE":
            self.refine(claim)
        elif claim.kind == "PLAN":
            self._plan(claim)
        elif claim.kind == "FIT":
            output = jobs_pb2.FitOutput(cells=[jobs_pb2.FittedCell(c=1.0)])
            self.workspace.commit_fit(claim, claim.job.fit.attempt, output)
        else:
            snapshot = self.workspace.snapshot(claim)
            assert snapshot is not None
            header = tuning_pb2.ExportModelResponse(header=result_pb2.ModelHeader(gamma=2.0))
            manifest = result_pb2.Manifest(last_event_id=self.last_event_id)
            result = result_pb2.TuningResult(gamma=2.0, manifest=manifest)
            self.workspace.commit_estimate(
                claim,
                snapshot.attempt,
                result,
                0.5,
                [header],
                point=tuning_pb2.HistoryPoint(labels=len(snapshot.labels), gamma=2.0),
                pictures=pictures_of(len(snapshot.labels)),
            )

    def suggest(self, claim: Claim) -> bool:
        """Rank the free rows in ascending order; ``predicts`` is the prediction for each."""
        snapshot = self.workspace.snapshot(claim)
        assert snapshot is not None
        taken = snapshot.labels.keys() | snapshot.dropped | snapshot.open_rows
        rows = [row for row in range(snapshot.session.observation_count) if row not in taken]
        return self.workspace.commit_suggest(
            claim,
            snapshot,
            gamma=1.0,
            alignment=0.5,
            ranking=[RankedRow(row, self.predicts, explanation_of(row)) for row in rows],
            controls=[RankedRow(row, 0, explanation_of(row)) for row in snapshot.next_controls],
            pictures={"cells": pictures_of(len(snapshot.labels))["cells"]},
        )

    def refine(self, claim: Claim) -> bool:
        """Say that the refined detector is better on the labels that there are."""
        snapshot = self.workspace.snapshot(claim)
        assert snapshot is not None
        labels = len(snapshot.labels)
        return self.workspace.commit_refine(
            claim,
            labels,
            result_pb2.DetectorComparison(better=result_pb2.DETECTOR_REFINED, labels=labels),
            {name: one for name, one in pictures_of(labels).items() if name != "cells"},
        )

    def _plan(self, claim: Claim) -> None:
        snapshot = self.workspace.snapshot(claim)
        assert snapshot is not None
        plan = jobs_pb2.GridPlan(fits=[jobs_pb2.PlannedFit(purpose="grid"), jobs_pb2.PlannedFit()])
        jobs = [
            jobs_pb2.Job(
                fit=jobs_pb2.FitJob(
                    session_id=claim.session_id, attempt=snapshot.attempt, index=index
                )
            )
            for index in range(2)
        ]
        self.workspace.commit_plan(claim, snapshot.attempt, plan, jobs)


def lease_request(labeler: str, most: int = 1, **further: Any) -> LeaseRequest:
    """The request of a labeler for queries: by unary calls, or on the stream named ``stream``."""
    return LeaseRequest(f"{labeler}/{further.pop('stream', '')}", labeler, most, **further)


class Scene:
    """Stores, a dataset of 12 x 2 and a scripted worker."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = connect_async(url)
        self.sessions = SessionStore(self.client)
        self.datasets = DatasetStore(self.client)
        self.uploads = UploadStore(self.client)
        self.models = ModelStore(self.client)
        self.worker = ScriptedWorker(url)
        self.worker.client.set(keys.prefix(0) + "layout", keys.LAYOUT_VERSION)
        self.dataset_id = DatasetId("")
        self.answered = 0

    async def upload(self, *, ids: list[str] | None = None, n: int = N) -> DatasetId:
        """Store a dataset and use it from now on."""
        rows = np.arange(n * M, dtype="<f8").reshape(n, M)
        digest = hashlib.sha256(rows.tobytes() + repr(ids).encode()).hexdigest()
        self.dataset_id = DatasetId(digest[:32])
        per_chunk = codec.rows_per_chunk(M)
        await self.datasets.put_rows(self.dataset_id, 0, rows[:per_chunk].tobytes())
        if ids:
            await self.datasets.put_ids(self.dataset_id, 0, ids)
        await self.datasets.commit(
            self.dataset_id,
            dataset_pb2.Dataset(observation_count=n, feature_count=M),
            chunks=1,
            has_ids=ids is not None,
            has_display=False,
        )
        return self.dataset_id

    async def session(
        self,
        *,
        initial: dict[int, Verdict] | None = None,
        controls: dict[int, Verdict] | None = None,
        retention_ms: int | None = None,
        **config: Any,
    ) -> SessionId:
        """Create a session on a new dataset, with its first ranking."""
        if not self.dataset_id:
            await self.upload()
        defaults: dict[str, Any] = {"budget": 6, "strategy": "lama"}
        labels = [InitialLabel(row, verdict) for row, verdict in (initial or {}).items()]
        session_id = await self.sessions.create(
            self.dataset_id,
            SessionConfig(**defaults | config),
            observation_count=N,
            initial=labels,
            controls=[ControlItem(row, verdict) for row, verdict in (controls or {}).items()],
            retention_ms=retention_ms,
        )
        self.worker.work_off()
        return session_id

    async def labels_of(self, source: SessionId) -> TakenLabels:
        """All votes of a session, for another session on the same dataset to take over."""
        events = await self.sessions.label_events(source)
        labels = tuple(TakenLabel(one.row, (replace(one, origin=source),)) for one in events)
        return TakenLabels(labels, tuning_pb2.TakenOver(source=source, taken_count=len(labels)))

    async def created_from(self, taken: TakenLabels, **further: Any) -> SessionId:
        """Create a session that takes over labels of another one."""

        async def take() -> TakenLabels:
            return taken

        return await self.sessions.create(
            self.dataset_id,
            SessionConfig(budget=6, strategy="lama"),
            observation_count=N,
            source=taken.summary.source,
            take=take,
            **further,
        )

    async def answered_session(self) -> SessionId:
        """A session with one answer, whose next ranking waits for a worker."""
        session_id = await self.session()
        (lease,) = await self.lease(session_id)
        await self.answer(session_id, lease)
        return session_id

    async def lease(
        self,
        session_id: SessionId,
        labeler: str = "ann",
        most: int = 1,
        *,
        waits: bool = False,
        **further: Any,
    ) -> list[Lease]:
        """Ask for queries; return the labeler's leases. ``further`` is as in ``lease_request``."""
        outcome = await self.sessions.lease(
            session_id, lease_request(labeler, most, **further), waits=waits
        )
        return list(outcome.leases)

    async def run_out(self, session_id: SessionId, *lease_ids: str) -> None:
        """Let leases, all or the named ones, expire. No service has noticed yet."""
        key = keys.session(session_id, "leases")
        for member in lease_ids or await self.client.zrange(key, 0, -1):
            await self.client.zincrby(key, -3_600_000, member)

    async def answer(
        self,
        session_id: SessionId,
        lease: Lease | int,
        verdict: Verdict = Verdict.INLIER,
        *,
        labeler: str = "ann",
        answer_id: str = "",
        want: int = 0,
        replace: bool = False,
        confidence: float | None = None,
        trace: str = "",
    ) -> Receipt:
        """Answer a leased query, or a row unasked."""
        self.answered += 1
        leased = isinstance(lease, Lease)
        return await self.sessions.answer(
            session_id,
            Answer(
                answer_id=answer_id or f"answer-{self.answered}",
                labeler=labeler,
                holder=f"{labeler}/",
                verdict=verdict,
                query=lease.query if isinstance(lease, Lease) else 0,
                lease_id=lease.lease_id if isinstance(lease, Lease) else "",
                row=None if leased else lease,  # type: ignore[arg-type]
                replace=replace,
                confidence=confidence,
            ),
            then=lease_request(labeler, want) if want else None,
            trace=trace,
        )

    async def answer_batch(
        self,
        session_id: SessionId,
        verdicts: Mapping[int, int],
        *,
        labeler: str = "ann",
        hold_s: float = 0.0,
        prefix: str = "batch",
        **further: Any,
    ) -> BatchReceipt:
        """Answer rows unasked, all in one call."""
        return await self.sessions.answer_batch(
            session_id,
            [
                Answer(
                    answer_id=f"{prefix}-{row}",
                    labeler=labeler,
                    holder=f"{labeler}/",
                    verdict=Verdict(verdict),
                    row=row,
                    **further,
                )
                for row, verdict in verdicts.items()
            ],
            labeler=labeler,
            holder=f"{labeler}/",
            hold_s=hold_s,
        )

    async def skip(
        self,
        session_id: SessionId,
        lease: Lease,
        mode: SkipMode,
        labeler: str = "ann",
        *,
        want: int = 0,
    ) -> Receipt:
        """Skip a leased query."""
        return await self.sessions.skip(
            session_id,
            labeler=labeler,
            holder=f"{labeler}/",
            query=lease.query,
            lease_id=lease.lease_id,
            mode=mode,
            then=lease_request(labeler, want) if want else None,
        )

    async def vote(
        self, session_id: SessionId, labeler: str, verdict: Verdict = Verdict.INLIER
    ) -> Lease:
        """Lease a query for a labeler and answer it."""
        (lease,) = await self.lease(session_id, labeler)
        assert (await self.answer(session_id, lease, verdict, labeler=labeler)).applied
        return lease

    async def counts(self, session_id: SessionId) -> LabelCounts:
        """Numbers of observations by label."""
        return (await self.sessions.get(session_id)).counts

    async def awaiting(self, session_id: SessionId) -> int:
        """Number of labelled observations that still await a vote."""
        return (await self.sessions.get(session_id)).awaiting_votes

    async def state(self, session_id: SessionId) -> SessionState:
        """The session's state."""
        return (await self.sessions.get(session_id)).state

    async def held(self, session_id: SessionId, holder: str) -> list[int]:
        """The queries that a holder has, read without asking, in the order of their leases."""
        text = await self.client.hget(keys.session(session_id, "held"), holder)
        return [int(lease_id.rsplit("-", 1)[1]) for lease_id in json.loads(text or "[]")]

    async def notices(self, session_id: SessionId) -> list[set[str]]:
        """The holders that each notice of the session names, oldest first."""
        stream = keys.prefix(keys.partition_of_session(session_id)) + "notices"
        return [
            set(fields[b"holders"].decode().split())
            for _, fields in await self.client.xrange(stream)
            if fields[b"session"].decode() == session_id
        ]

    async def close(self) -> None:
        """Give connections back."""
        await self.client.aclose()
        self.worker.close()


def play(url: str, act: Callable[[Scene], Coroutine[Any, Any, T]]) -> T:
    """Run a test's coroutine on a new scene."""

    async def run() -> T:
        scene = Scene(url)
        try:
            return await act(scene)
        finally:
            await scene.close()

    return asyncio.run(run())
