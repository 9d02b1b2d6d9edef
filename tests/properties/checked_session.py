"""A session on a real store that is compared with its model after every step."""

import asyncio
from collections.abc import Callable, Coroutine
from math import isnan
from typing import Any, TypeVar

import pytest
from tests.properties import checks
from tests.properties.ballot import Rules
from tests.properties.controls import Controls
from tests.properties.model import Model, Refusal
from tests.properties.stored import Stored, read
from tests.state.scene import Scene, ScriptedWorker, explanation_of

from svddtune.agreement import labeler_reports
from svddtune.config import SessionConfig
from svddtune.state import keys
from svddtune.state.errors import ClaimLost, StateError
from svddtune.state.queue import Claim, JobQueue
from svddtune.state.session import ControlItem, InitialLabel, RankedRow, SessionId, Verdict
from svddtune.state.workspace import Snapshot

T = TypeVar("T")
LONG_MS = 60_000


class Backend:
    """A store and a worker, for one session after the other."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.scene = self.run(self._scene(url))
        self.other = ScriptedWorker(url)
        self._datasets: dict[int, Any] = {}
        # A failed history has left jobs, which the next one removes.
        self.dirty = False

    @staticmethod
    async def _scene(url: str) -> Scene:
        return Scene(url)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine."""
        return self.runner.run(work)

    def dataset(self, rows: int) -> Any:
        """A dataset with the given number of rows."""
        if self.dirty:
            client = self.scene.worker.client
            for key in client.scan_iter(keys.prefix(0) + "q:*"):
                client.delete(key)
            self.scene.worker.queue.prepare()
        self.dirty = True
        if rows not in self._datasets:
            self._datasets[rows] = self.run(self.scene.upload(n=rows))
        return self._datasets[rows]

    def close(self) -> None:
        """Close the connections."""
        self.run(self.scene.close())
        self.other.close()
        self.runner.close()


class CheckedSession:
    """A session, its model, and the jobs that workers have begun."""

    def __init__(
        self,
        backend: Backend,
        rules: Rules,
        *,
        rows: int,
        budget: int,
        initial: dict[int, int],
        controls: Controls,
        predicted: Callable[[int], int],
    ) -> None:
        self.backend, self.predicted = backend, predicted
        self._last_notice = ""
        self.store, self.worker = backend.scene.sessions, backend.scene.worker
        self.client = self.worker.client
        self.session_id: SessionId = backend.run(
            self.store.create(
                backend.dataset(rows),
                SessionConfig(
                    budget=budget,
                    strategy="lama",
                    overlap=rules.overlap,
                    overlap_rule="adaptive" if rules.adaptive else "always",
                    overlap_limit=rules.limit,
                    repeat_every=rules.repeat_every,
                    adjudicators=rules.adjudicators,
                    control_share=controls.share,
                ),
                observation_count=rows,
                initial=[InitialLabel(row, Verdict(one)) for row, one in initial.items()],
                controls=[ControlItem(row, Verdict(one)) for row, one in controls.truth.items()],
            )
        )
        self.model = Model(rules, rows, budget, initial, controls)
        # The order is drawn from the seed.
        controls.order = self._read().controls
        assert sorted(controls.order) == sorted(controls.truth)
        # Jobs that workers have begun: claim, snapshot, and length of the log at that time.
        self.begun: list[tuple[Claim, Snapshot, int]] = []
        # All leases, including ended ones: query, holder, labeler.
        self.all_leases: dict[str, tuple[int, str, str]] = {}
        self.work_off()

    def _read(self) -> Stored:
        return read(self.client, self.session_id, notices_after=self._last_notice)

    # A step and its checks

    def step(
        self,
        work: Callable[[], T],
        expected: Callable[[], Any],
        result: Callable[[T], Any] = lambda reply: reply,
        *,
        actor: str = "",
        asks: bool = False,
        stays: bool = True,
    ) -> T | None:
        """Apply a step to the store and to the model, and compare replies and states.

        ``actor`` is the holder that acts. If it ``asks``, the reply has its new leases. If it
        ``stays``, it waits for more.
        """
        before = self._held()
        waited = set(self.model.waiting)
        reply: T | None = None
        try:
            reply = work()
            got = result(reply)
        except StateError as error:
            got = error.reason
        try:
            wanted = expected()
        except Refusal as refusal:
            wanted = str(refusal)
        assert got == wanted
        self.stored = read(self.client, self.session_id, notices_after=self._last_notice)
        granted = checks.take_grants(self.model, self.stored, asking=actor if asks else "")
        if not stays:
            self.model.waiting.pop(actor, None)
        checks.check_state(self.model, self.stored)
        checks.check_waiting(self.model, self.stored)
        checks.check_work(self.model, self.stored)
        checks.check_fold(self.stored)
        self.all_leases |= self.stored.leases_of_queries()
        held = self._held()
        concerned = {holder for holder, ids in before.items() if ids - held.get(holder, set())}
        # Notified holders wait no more.
        concerned |= waited - self.stored.waiting.keys() - held.keys()
        concerned = concerned - {actor} | granted
        self._check_notices(concerned - {actor} if asks else concerned)
        return reply

    def _held(self) -> dict[str, set[str]]:
        held: dict[str, set[str]] = {}
        for lease_id, (_, lease) in self.model.leases().items():
            held.setdefault(lease.holder, set()).add(lease_id)
        return held

    def _check_notices(self, concerned: set[str]) -> None:
        """Check that notices name all holders whose leases changed by no request of theirs."""
        notices = self.stored.notices
        told = set().union(*(holders for _, holders, _ in notices))
        if not any(moved for *_, moved in notices):
            assert concerned <= told, f"{concerned - told} got no notice"
        if notices:
            self._last_notice = notices[-1][0]

    # Workers

    def take(self, queue: JobQueue) -> Claim | None:
        """Claim a job that no worker has begun."""
        prefix = keys.prefix(0)
        begun = self.client.xpending(prefix + "q:hi", keys.GROUP)["pending"]
        waiting = self.client.xlen(prefix + "q:hi") > begun or self.client.exists(
            prefix + "q:bulk:turn"
        )
        return queue.take() if waiting else None

    def begin(self, claim: Claim) -> None:
        """Begin a job: read its snapshot."""
        snapshot = self.worker.workspace.snapshot(claim)
        assert snapshot is not None
        self._check_snapshot(snapshot)
        self.begun.append((claim, snapshot, len(self.model.log)))

    def _check_snapshot(self, snapshot: Snapshot) -> None:
        labels = self.model.labels()
        assert snapshot.labels == {row: label for row, label in labels.items() if label}
        unsure = {row for row, label in labels.items() if not label}
        assert snapshot.dropped - snapshot.labels.keys() == (
            (self.model.dropped - snapshot.labels.keys()) | unsure
        )
        assert snapshot.open_rows == {
            query.row for query in self.model.open_queries() if query.row not in labels
        }
        controls = self.model.controls
        assert snapshot.control_rows == controls.truth.keys()
        next_ones = {
            controls.order[one.controls]
            for one in controls.shown.values()
            if one.controls < len(controls.order)
        }
        assert {*next_ones, *controls.order[:1]} <= set(snapshot.next_controls)
        assert snapshot.votes == {
            row: of_row
            for row, votes in self.model.votes.items()
            if (of_row := {n: v.verdict for n, v in votes.items() if n not in self.model.void})
        }

    def end_suggest(self, index: int, most: int) -> None:
        """Commit a ranking of at most `most` rows, as ``worker/step.py`` does."""
        claim, snapshot, log = self.begun.pop(index)
        if snapshot.session.state.ended:
            self.step(lambda: self.worker.workspace.commit_nothing(claim), lambda: None)
            return
        taken = snapshot.labels.keys() | snapshot.dropped | snapshot.open_rows
        rows = [row for row in range(snapshot.session.observation_count) if row not in taken]
        ranking = [RankedRow(row, self.predicted(row)) for row in rows[:most]]
        self.step(
            lambda: self.worker.workspace.commit_suggest(
                claim,
                snapshot,
                gamma=1.0,
                alignment=0.5,
                ranking=ranking,
                controls=[RankedRow(row, 0, explanation_of(row)) for row in snapshot.next_controls],
            ),
            lambda: self.model.rank(rows[:most], snapshot.next_controls, log),
        )

    def lose_suggest(self, index: int) -> None:
        """Lose a worker: another one takes over its job, and the lost one cannot commit."""
        claim, *_ = self.begun[index]
        if claim.lost >= 2:
            return  # After further losses the job waits for a pause.
        del self.begun[index]
        for other, *_ in self.begun:
            self.worker.queue.renew(other)
        self.client.xclaim(
            claim.stream, keys.GROUP, claim.consumer, 0, [claim.entry], idle=LONG_MS, justid=True
        )
        assert self.backend.other.queue.recover().lost == 1

        def taken_again() -> int:
            return sum(other.lost == claim.lost + 1 for other, *_ in self.begun)

        before = taken_again()
        # The job is requeued behind the waiting ones.
        self.work_off(self.backend.other.queue)
        assert taken_again() == before + 1
        with pytest.raises(ClaimLost):
            self.worker.workspace.commit_nothing(claim)

    def fail_suggest(self, index: int) -> None:
        """Fail a job, and with it the session."""
        claim, *_ = self.begun.pop(index)
        self.step(
            lambda: self.worker.queue.fail(claim, "JOB_FAILED", "no luck", final=True),
            self._fail,
        )

    def _fail(self) -> bool:
        if self.model.state in ("LABELING", "PAUSED"):
            self.model.fail()
        return True

    def work_off(self, queue: JobQueue | None = None) -> None:
        """Begin all ranking jobs and complete all other jobs, by any worker or the given one."""
        self.step(lambda: self._work_off(queue or self.worker.queue), self._completed)

    def _work_off(self, queue: JobQueue) -> None:
        while claim := self.take(queue):
            if claim.kind == "SUGGEST":
                self.begin(claim)
            elif claim.kind == "PREVIEW":
                self.worker.workspace.commit_nothing(claim)
            else:
                self.worker.do(claim)

    def check_reports(self) -> None:
        """Check what is reported of each labeler's answers to control items."""
        truth = self.backend.run(self.store.controls(self.session_id))
        assert truth == self.model.controls.truth
        events = self.backend.run(self.store.label_events(self.session_id))
        for one in labeler_reports(events, truth):
            trust = None if isnan(one.trust) else one.trust
            assert (
                one.controls,
                one.controls_right,
                one.outlier_controls,
                one.outlier_controls_right,
                trust,
            ) == self.model.controls.figures(one.labeler)

    def delete(self) -> None:
        """Delete the session and check that no key is left."""
        self.backend.run(self.store.delete(self.session_id))
        for claim, *_ in self.begun:
            assert self.worker.workspace.snapshot(claim) is None
            self.worker.workspace.commit_nothing(claim)
        assert list(self.client.scan_iter(f"*{self.session_id}*")) == []
        assert [
            self.client.xlen(stream) for stream in self.worker.queue._streams("hi", "bulk")
        ] == [0, 0]
        self.backend.dirty = False

    def _completed(self) -> None:
        if self.model.state == "ESTIMATING":
            self.model.state = "COMPLETED"
