"""Nothing is lost if processes are killed and labelers disconnect."""

import numpy as np
import pytest
from tests.e2e.processes import deployment, service, worker
from tests.numerics.cases import blobs, wdbc
from tests.state.scene import ScriptedWorker
from tests.state.worker_loss import end_pauses, silence_all
from tests.waiting import wait_until

from svddtune.client import SessionState, TuningClient
from svddtune.state import inspection, keys
from svddtune.state.connect import connect

pytestmark = [pytest.mark.integration, pytest.mark.e2e, pytest.mark.slow]


def running(redis_url: str) -> list[str]:
    """Kinds of the jobs that workers have claimed."""
    kinds = []
    with connect(redis_url) as client:
        for lane in ("hi", "bulk"):
            stream = keys.prefix(0) + f"q:{lane}"
            for claim in client.xpending_range(stream, keys.GROUP, "-", "+", 100):
                for _, fields in client.xrange(stream, claim["message_id"], claim["message_id"]):
                    kinds.append(fields[b"kind"].decode())
    return kinds


@pytest.mark.slow
@pytest.mark.thorough
def test_job_whose_worker_is_killed_five_times_is_completed(redis_url: str) -> None:
    # Large enough that PREPARE still runs when its worker is killed.
    X, y = blobs(3000, 10, seed=1)
    initial = {str(row): int(y[row]) for row in range(40)}
    with service(redis_url) as front, TuningClient(front.ready["address"]) as client:
        dataset = client.upload_dataset(X)
        session = client.create_session(
            dataset, initial_labels=initial, budget=len(initial), strategy="lama"
        )
        for _ in range(5):
            victim = worker(redis_url)
            wait_until(lambda: "PREPARE" in running(redis_url), timeout_s=60)
            victim.kill()
            assert "PREPARE" in running(redis_url)
            put_back_at_once(redis_url)
        with worker(redis_url):
            done = client.wait_until_completed(session, timeout_s=90)
    assert done.counts.total == len(initial)
    assert running(redis_url) == []


@pytest.mark.slow
@pytest.mark.thorough
def test_killed_worker_is_forgotten_by_another(redis_url: str) -> None:
    with worker(redis_url) as victim, connect(redis_url) as client, worker(redis_url) as other:
        names = {victim.ready["worker"], other.ready["worker"]}
        wait_until(lambda: {one.name for one in inspection.workers(client, 1)} == names)
        victim.kill()
        left = {other.ready["worker"]}
        wait_until(lambda: {one.name for one in inspection.workers(client, 1)} == left)


def put_back_at_once(redis_url: str) -> None:
    """Let the claims of a killed worker lapse now, without a pause."""
    worker = ScriptedWorker(redis_url)
    try:
        silence_all(worker)
        worker.queue.recover()
        end_pauses(worker)
        worker.queue.recover()
    finally:
        worker.close()


def test_session_continues_at_new_service_after_the_old_is_killed(redis_url: str) -> None:
    X, y = wdbc()
    asked = []
    with worker(redis_url):
        front = service(redis_url)
        address = front.ready["address"]
        with TuningClient(address) as client:
            session = client.create_session(client.upload_dataset(X), budget=12)
            with client.tuning(session) as tuning:
                for query in tuning.queries():
                    asked.append(query.row)
                    if len(asked) == 5:
                        front.kill()
                        front = service(redis_url, listen=address)
                    tuning.answer(query, int(y[query.row]))
            client.wait_until_completed(session, timeout_s=60)
            labelled = [event.row for event in client.labels(session)]
        front.stop()
    assert labelled == asked
    assert len(set(asked)) == 12


def test_session_completes_with_three_labelers_of_whom_one_disconnects(redis_url: str) -> None:
    import threading

    X, y = wdbc()
    answered: dict[str, list[int]] = {"bob": [], "eve": []}
    with deployment(redis_url, workers=2) as address, TuningClient(address) as client:
        session = client.create_session(client.upload_dataset(X), budget=30, lease_seconds=1.0)

        # Ann leases two queries, and then her connection breaks off.
        vanishing = TuningClient(address)
        ann = vanishing.tuning(session, labeler="ann", credit=2)
        held = {ann.next_query(timeout_s=30).row for _ in range(2)}  # type: ignore[union-attr]
        vanishing.close()

        def label(name: str) -> None:
            with client.tuning(session, labeler=name) as tuning:
                for query in tuning.queries():
                    answered[name].append(query.row)
                    tuning.answer(query, int(y[query.row]))

        crew = [threading.Thread(target=label, args=(name,)) for name in answered]
        for one in crew:
            one.start()
        for one in crew:
            one.join(timeout=90)
        done = client.wait_until_completed(session, timeout_s=60)
        events = list(client.labels(session))
    rows = [row for name in answered for row in answered[name]]
    assert done.state is SessionState.COMPLETED
    assert len(rows) == len(set(rows)) == 30
    assert sorted(event.row for event in events) == sorted(rows)
    assert held <= set(rows)
    assert answered["bob"]
    assert answered["eve"]


def test_bad_input_of_one_client_does_not_disturb_another(redis_url: str) -> None:
    from svddtune.client import InvalidInput, SvddtuneError

    X, y = wdbc()
    with deployment(redis_url) as address, TuningClient(address) as client:
        dataset = client.upload_dataset(X)
        session = client.create_session(dataset, budget=6)
        with client.tuning(session) as tuning:
            for query in tuning.queries():
                bad = X.copy()
                bad[7, 3] = np.nan
                with pytest.raises(InvalidInput) as refused:
                    client.upload_dataset(bad)
                assert refused.value.reason == "DATASET_NOT_FINITE"
                with pytest.raises(SvddtuneError) as refused_too:
                    client.create_session(dataset, budget=10_000)
                assert refused_too.value.reason == "BUDGET_TOO_LARGE"
                with pytest.raises(SvddtuneError) as unknown:
                    tuning.label("no-such-row", "inlier")
                assert unknown.value.reason == "UNKNOWN_OBSERVATION"
                tuning.answer(query, int(y[query.row]))
        client.wait_until_completed(session, timeout_s=60)
