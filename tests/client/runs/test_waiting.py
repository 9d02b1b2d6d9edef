"""Sessions that ask nothing: `tune` says why, and what to do."""

import re
import warnings

import pytest
from tests.client.scene import blob
from tests.e2e.processes import service
from tests.state.scene import ScriptedWorker

from svddtune.client import EmbeddedStack, Progress, TuningClient, tune
from svddtune.client.cli.app import run

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(40)
BUDGET = 6


@pytest.mark.parametrize("unsure", [(), (2, 4)])
def test_missing_votes_of_others_are_reported_once_and_the_wait_is_limited(
    stack: EmbeddedStack, unsure: tuple[int, ...]
) -> None:
    told: list[Progress] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        tuned = tune(
            X,
            lambda query: "unsure" if query.number in unsure else int(Y[query.row]),
            budget=BUDGET,
            overlap=2,
            server=stack.address,
            labeler="ann",
            strategy="lama",
            wait_for_labelers_s=1.0,
            on_progress=told.append,
        )
    assert warned == []
    waiting = [one for one in told if one.stage == "waiting"]
    assert waiting[-1].awaiting_votes == BUDGET - len(unsure)
    assert waiting[-1].waiting.startswith(f"{BUDGET} observations wait for more votes")
    name = tuned.session.name.removeprefix("sessions/")
    assert f"svddtune label {name} --labeler NAME --server {stack.address}" in waiting[-1].waiting
    assert f"svddtune session finish {name} --server {stack.address}" in waiting[-1].waiting
    assert (
        "the session asks for 2 votes on each. Let another labeler than ann vote"
        in waiting[-1].waiting
    )
    assert tuned.quality.counts.total == BUDGET - len(unsure)


def test_wait_without_end_warns_and_ends_by_finish(
    stack: EmbeddedStack, capsys: pytest.CaptureFixture[str]
) -> None:
    def finish(progress: Progress) -> None:
        found = re.search(r"svddtune (session finish \S+ --server \S+)", progress.waiting)
        if found:
            assert run(found[1].split()) == 0

    with pytest.warns(UserWarning, match="wait for more votes") as warned:
        tuned = tune(
            X,
            lambda query: int(Y[query.row]),
            budget=BUDGET,
            overlap=2,
            server=stack.address,
            strategy="lama",
            on_progress=finish,
        )
    assert len(warned) == 1
    assert tuned.quality.counts.total == BUDGET
    assert "asks no more" in capsys.readouterr().err


class _Enough(Exception):
    pass


def test_service_without_workers_is_reported(redis_url: str) -> None:
    def enough(progress: Progress) -> None:
        if "waits because no worker is running" in progress.waiting:
            assert progress.stage == "preparing"
            raise _Enough

    with service(redis_url) as process:
        address = str(process.ready["address"])
        with pytest.raises(_Enough):
            tune(X, Y, budget=BUDGET, server=address, on_progress=enough)
        with TuningClient(address) as client:
            (session,) = client.list_sessions()
            found = client.get_session(session)
            assert found.without_workers
            assert found.stall == "no_workers"


def test_watch_says_that_a_job_was_given_up_and_what_to_do(
    redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with service(redis_url) as process:
        address = str(process.ready["address"])
        with TuningClient(address) as client:
            session = client.create_session(client.upload_dataset(X), budget=BUDGET)
            worker = ScriptedWorker(redis_url)
            claim = worker.next_claim()
            assert claim is not None
            worker.queue.fail(claim, "OUT_OF_MEMORY", "It needs more memory.", final=True)
            worker.close()
            assert client.get_session(session).stall == "job_given_up"
        assert run(["watch", session.name, "--server", address]) == 1
    said = capsys.readouterr().err
    assert "failed because a job was given up" in said
    assert "svddtune jobs retry --all" in said
    assert "[OUT_OF_MEMORY]" in said


def test_session_with_workers_reports_no_lack_of_workers(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = client.create_session(client.upload_dataset(X), budget=BUDGET)
    found = client.get_session(session)
    assert not found.without_workers
    assert found.stall == ""
