"""``svddtune workers`` shows who is there and what each does."""

import json
from typing import Any

import pytest
from tests.e2e.processes import worker
from tests.state.scene import Scene, play
from tests.waiting import wait_until

import svddtune
from svddtune.client.cli.app import run
from svddtune.state import inspection, keys
from svddtune.state.connect import connect

pytestmark = pytest.mark.integration


def shown(capsys: pytest.CaptureFixture[str], redis_url: str) -> list[dict[str, Any]]:
    assert run(["workers", "--redis", redis_url, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["workers"]
    return found


def test_no_worker_is_said_with_how_to_start_one(
    redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["workers", "--redis", redis_url]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "No worker is there. Start one with: svddtune worker --redis URL\n"


def test_worker_is_shown_while_it_runs_and_as_gone_once_it_was_killed(
    redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with worker(redis_url) as process, connect(redis_url) as client:
        wait_until(lambda: any(one.alive for one in inspection.workers(client, 1)))
        name = process.ready["worker"]
        (found,) = shown(capsys, redis_url)
        assert (found["name"], found["pid"]) == (name, process.pid)
        assert found["version"] == svddtune.__version__
        assert found["alive"]
        assert found["jobs"] == []
        assert 0 <= client.time()[0] * 1000 - found["started_ms"] + 1000 < 100_000
        assert 10 << 20 < found["memory_bytes"] < 2 << 30
        assert run(["workers", "--redis", redis_url]) == 0
        text = capsys.readouterr().out
        assert name[:8] in text
        assert all(len(line) <= 80 for line in text.splitlines())
        process.kill()
        # It expires by itself within seconds.
        client.delete(f"{keys.prefix(0)}worker:{name}")
        (found,) = shown(capsys, redis_url)
        assert (found["name"], found["alive"]) == (name, False)


def test_job_of_a_worker_is_shown(redis_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def act(scene: Scene) -> None:
        session_id = await scene.answered_session()
        claim = scene.worker.next_claim()
        assert claim is not None
        (found,) = shown(capsys, redis_url)
        (job,) = found["jobs"]
        assert (job["kind"], job["lane"], job["session"]) == ("SUGGEST", "hi", session_id)

    play(redis_url, act)


@pytest.mark.parametrize("url", ["http://127.0.0.1", "redis://127.0.0.1:port"])
def test_wrong_url_is_a_mistake_of_usage(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workers", "--redis", url]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--redis is" in line


def test_absent_store_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workers", "--redis", "redis://127.0.0.1:1/0"]) == 1
    assert "STORE_UNAVAILABLE" in capsys.readouterr().err


def test_help_of_the_program_and_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "Show the workers" in capsys.readouterr().out
    assert run(["workers", "--help"]) == 0
    assert "--partitions" in capsys.readouterr().out
