"""Programs from Debian's packages: what is said where they cannot be had."""

from pathlib import Path

import pytest
from tools import debian


def test_one_line_says_what_is_missing_where_there_is_no_debian(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "TOOLS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert debian.main(["promtool", "redis-server-8"]) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert said.startswith("No promtool, redis-server-8: this machine has no Debian")
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "TOOLS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "promtool").touch()
    assert debian.main(["promtool"]) == 0
    assert capsys.readouterr().out == ""


def test_unknown_program_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(SystemExit, match="memcached: choose from redis-server-8, valkey-server-8"):
        debian.main(["memcached"])
