"""Processes of the earlier layout are replaced by others, and back, while people label."""

import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import redis
from numpy.typing import NDArray
from tests.chaos import checks
from tests.chaos.deployment import NAMES, Deployment, deployed
from tests.chaos.labelers import Journal
from tests.chaos.play import Event, undisturbed
from tests.e2e.earlier import LAYOUT_3, NoEarlierVersion, environment, extract
from tests.e2e.processes import service, worker
from tests.numerics.cases import blobs
from tests.waiting import wait_until

from svddtune.client import Ack, SessionConfig, TuningClient
from svddtune.state import keys, layout
from svddtune.state.session import SessionId

pytestmark = [
    pytest.mark.integration,
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.timeout(400),
]

P = keys.prefix(0)
PATIENCE_S = 60.0
# While processes are replaced, at most this many labels of each labeler; afterwards so many more.
BESIDE, AFTER = 8, 2
# Which services and workers are replaced by those of the other version: forward, back, forward.
STEPS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((0,), ()),
    ((), (0,)),
    ((0,), (0,)),
    ((0,), (0,)),
    ((1,), ()),
    ((), (1,)),
)
BUDGET = len(NAMES) * len(STEPS) * (BESIDE + AFTER) + 4


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree of a version whose newest layout is 3."""
    try:
        return extract(LAYOUT_3, tmp_path_factory.mktemp("earlier"))
    except NoEarlierVersion as missing:
        pytest.skip(f"no rolling restart with the earlier layout: {missing}")


class Labeler:
    """A labeler that gives each label only once it is let."""

    def __init__(self, address: str, name: str, journal: Journal) -> None:
        self._address, self._name, self._journal = address, name, journal
        self._let = threading.Semaphore(0)

    def begin(self, session: str, verdicts: NDArray[Any]) -> None:
        """Label a session."""
        threading.Thread(target=self._label, args=(session, verdicts), daemon=True).start()

    def let(self, count: int = 1) -> None:
        """Let it give so many labels."""
        self._let.release(count)

    def _label(self, session: str, verdicts: NDArray[Any]) -> None:
        reason = "broken off"
        try:
            with TuningClient(self._address) as client:
                self._answer_all(client, session, verdicts)
            reason = ""
        except Exception as error:
            reason = repr(error)
            raise
        finally:
            self._journal.take(self._name, {"ended": session, "reason": reason})

    def _answer_all(self, client: TuningClient, session: str, verdicts: NDArray[Any]) -> None:
        with client.tuning(session, labeler=self._name) as tuning:
            for number, query in enumerate(tuning.queries()):
                self._let.acquire()
                verdict = int(verdicts[query.row])
                answer_id = self._sent("labeled", query.row, verdict)
                ack = tuning.answer(query, verdict, answer_id=answer_id)
                self._acked(answer_id, ack)
                # (Not near the end of the budget, where the session may end any moment.)
                if number % 7 == 3 and ack.counts.total < BUDGET // 2:
                    answer_id = self._sent("retracted", query.row, verdict)
                    self._acked(
                        answer_id, tuning.retract(query.observation_id, answer_id=answer_id)
                    )

    def _sent(self, act: str, row: int, verdict: int) -> str:
        answer_id = uuid.uuid4().hex
        told = {"sent": answer_id, "act": act, "row": row, "verdict": verdict}
        self._journal.take(self._name, told)
        return answer_id

    def _acked(self, answer_id: str, ack: Ack) -> None:
        told = {"acked": answer_id, "event_id": ack.event_id, "applied": ack.applied}
        self._journal.take(self._name, told)


def given(journal: Journal, name: str) -> int:
    """Acknowledged labels of a labeler."""
    sent = [journal.sent[one] for one in journal.acked]
    return sum(one["act"] == "labeled" and one["labeler"] == name for one in sent)


class Mixed:
    """A session that is labeled while processes are replaced."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment, self.journal = deployment, deployment.journal
        self.labelers = {
            name: Labeler(front.address, name, self.journal)
            for name, front in zip(NAMES, deployment.fronts, strict=True)
        }
        # What each labeler was let give.
        self.let = 0

    def label(self, count: int = 1) -> None:
        """Each labeler gives so many labels."""
        self.let += count
        for labeler in self.labelers.values():
            labeler.let(count)
        self.journal.wait_for(
            lambda journal: all(given(journal, name) >= self.let for name in NAMES),
            PATIENCE_S,
            f"{self.let} labels of each",
        )

    def replace(self, services: Sequence[int], workers: Sequence[int]) -> None:
        """Replace processes by those of the other version, while people label."""
        for at in services:
            self.deployment.end_service(at, hard=False, swap=True)
        for at in workers:
            self.deployment.end_worker(at, hard=False, swap=True)
        for _ in range(BESIDE):
            self.label()
            if not self.deployment.replacing:
                break
            # As fast as people.
            time.sleep(0.1)
        self.deployment.ready()
        # Each labeler uses its own service again.
        for front in self.deployment.fronts:
            front.cut()
        self.label(AFTER)


def on_command_line(command: str, file: Path, redis_url: str, tree: Path | None = None) -> str:
    """Run a command of a version with a backup; what it complains about."""
    done = subprocess.run(
        [sys.executable, "-m", "svddtune", command, str(file), "--redis", redis_url],
        env=environment(tree) if tree else None,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


def test_versions_serve_side_by_side_and_the_layout_follows(
    tmp_path: Path, redis_url: str, earlier: Path
) -> None:
    X, y = blobs(BUDGET + 20, 2, seed=5)
    config = SessionConfig(budget=BUDGET, strategy="lama", seed=5, lease_seconds=60.0)
    short = SessionConfig(budget=6, strategy="lama", seed=6)
    backup = tmp_path / "backup"
    with deployed(tmp_path, earlier=earlier) as deployment, deployment.store.direct() as store:
        owner, journal = deployment.owner, deployment.journal
        dataset = owner.upload_dataset(X)
        # One that ends before any process is replaced.
        ended = owner.create_session(
            dataset, short, initial_labels={str(row): int(y[row]) for row in range(6)}
        )
        owner.wait_until_completed(ended, timeout_s=PATIENCE_S)
        result, log = owner.result(ended), list(owner.labels(ended))
        ended_id = SessionId(ended.name.removeprefix("sessions/"))

        session = owner.create_session(dataset, config)
        journal.begin()
        mixed = Mixed(deployment)
        for labeler in mixed.labelers.values():
            labeler.begin(session.name, y)
        mixed.label()
        for services, workers in STEPS:
            mixed.replace(services, workers)
            found = layout.layout_state(store)
            assert found.in_force == 3
            assert found.obstacle
        assert not any(one.tree for one in deployment.processes().values())
        # The minute after the last older process may be over before the labelers are done.
        layout.hold(store, held=True)
        for labeler in mixed.labelers.values():
            labeler.let(BUDGET)
        journal.wait_for(
            lambda journal: len(journal.ended) == len(NAMES), PATIENCE_S, "the end of all dialogues"
        )
        assert set(journal.ended.values()) == {""}, journal.ended
        owner.wait_until_completed(session, timeout_s=PATIENCE_S)
        events = list(owner.labels(session))
        checks.check_log(journal, events)
        assert any(one.kind == "retracted" for one in events)

        # A backup of the earlier layout, by this version.
        assert on_command_line("backup", backup, deployment.store.server.url) == ""

        # No older process is left, and the minute is over.
        assert layout.not_migrated(store, 1) == 2
        wait_until(lambda: not layout.layout_state(store).older)
        store.delete(P + "probe", P + "layout:older")
        assert layout.layout_state(store).in_force == 3
        layout.hold(store, held=False)
        wait_until(lambda: layout.layout_state(store).in_force == keys.LAYOUT_VERSION)
        wait_until(lambda: layout.not_migrated(store, 1) == 0)
        assert store.hexists(keys.session(ended_id), "ended_ms")
        assert list(owner.labels(ended)) == log
        checks.check_same(owner.result(ended), result)
        assert list(owner.labels(session)) == events

        # From now on the earlier version is refused.
        for start in (service, worker):
            refusal = tmp_path / start.__name__
            with pytest.raises(AssertionError, match="ended before it was ready"):
                start(deployment.store.server.url, log=refusal, tree=earlier)
            assert "layout" in refusal.read_text()

        result = owner.result(session)
        for one in (ended, session):
            owner.delete_session(one)
        owner.delete_dataset(dataset)
        again = undisturbed(owner, X, config, [Event.of(one) for one in events], PATIENCE_S)
        checks.check_same(result, again)
        checks.check_processes(deployment)
        checks.check_nothing_left(deployment)

    # The way back: the earlier version restores the backup.
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    assert on_command_line("restore", backup, redis_url, earlier) == ""
    with (
        worker(redis_url, tree=earlier),
        service(redis_url, tree=earlier) as front,
        TuningClient(front.ready["address"]) as owner,
    ):
        assert list(owner.labels(session)) == events
        checks.check_same(owner.result(session), result)
