"""``svddtune usage`` shows what projects have and counts it anew; the doctor finds wrong counts."""

import json
from typing import Any

import pytest
from tests.state.scene import Scene, play

from svddtune.client.cli.app import run
from svddtune.state import keys

pytestmark = pytest.mark.integration


def test_wrong_count_is_found_by_the_doctor_and_mended_by_the_command(
    redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: str) -> Any:
        capsys.readouterr()
        assert run([*arguments, "--redis", redis_url, "--json"]) in (0, 1, 2)
        return json.loads(capsys.readouterr().out)

    def diagnosis() -> dict[str, str]:
        return next(one for one in said("doctor")["findings"] if one["check"] == "usage")

    async def act(scene: Scene) -> None:
        assert said("usage") == {"projects": []}
        assert run(["usage", "--redis", redis_url]) == 0
        assert capsys.readouterr().err == "No project has anything.\n"
        await scene.session()
        assert diagnosis()["severity"] == "OK"
        scene.worker.client.hincrby(keys.usage(0, "default"), "sessions", 4)
        wrong = diagnosis()
        assert wrong["severity"] == "WARNING"
        assert wrong["value"] == "project default: 5 sessions counted and 1 there"
        assert "svddtune usage --recount" in wrong["advice"]
        (shown,) = said("usage")["projects"]
        assert (shown["counted"]["sessions"], shown["found"]["sessions"]) == (5, 1)
        assert not shown["right"]
        assert run(["usage", "--redis", redis_url, "--recount"]) == 0
        out, err = capsys.readouterr()
        assert all(len(line) <= 80 for line in out.splitlines())
        assert err == "Mended the counts of 1 project.\n"
        assert diagnosis()["severity"] == "OK"
        (mended,) = said("usage")["projects"]
        assert mended["right"]
        assert mended["counted"] == {"sessions": 1, "datasets": 1, "bytes": 12 * 2 * 8}

    play(redis_url, act)
