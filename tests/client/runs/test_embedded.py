"""The launcher's side of the embedded service, with children that misbehave."""

import sys
from pathlib import Path

import pytest

from svddtune.client import EmbeddedStack, Unavailable

READY = "import sys, json; print(json.dumps({'address': '127.0.0.1:7', 'versions': {'x': '1'}, "
READY += "'server': 'valkey 9'}), flush=True); "


def stack(code: str, data_dir: Path | None = None, start_timeout_s: float = 30.0) -> EmbeddedStack:
    return EmbeddedStack(
        3, data_dir, command=(sys.executable, "-c", code), start_timeout_s=start_timeout_s
    )


def test_child_gets_its_arguments_and_ends_with_its_input(tmp_path: Path) -> None:
    tail = "print(sys.argv[1:], file=sys.stderr, flush=True); sys.stdin.read(); print('bye', "
    with stack(READY + tail + "file=sys.stderr)", tmp_path) as running:
        assert running.address == "127.0.0.1:7"
        assert running.versions == {"x": "1", "server": "valkey 9"}
    arguments, last = running.log_path.read_text().splitlines()
    assert arguments == str(
        ["--listen", "127.0.0.1:0", "--workers", "3", "--data-dir", str(tmp_path), "--stop-on-eof"]
    )
    assert last == "bye"


def test_temporary_folder_is_removed() -> None:
    with stack(READY + "sys.stdin.read()") as running:
        folder = running.log_path.parent
        assert folder.is_dir()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("code", "reason", "says"),
    [
        (
            """print('{"error": "no server found", "reason": "NO_REDIS"}', flush=True)""",
            "NO_REDIS",
            "failed: no server found",
        ),
        (
            "import sys; print('line 1\\nline 2', file=sys.stderr); sys.exit(3)",
            "EMBEDDED_START_FAILED",
            "ended with exit code 3 before it was ready. Its log ends:\n  | line 1\n  | line 2",
        ),
        ("print('hello', flush=True)", "EMBEDDED_START_FAILED", "wrote 'hello' instead"),
        ("print('{}', flush=True)", "EMBEDDED_START_FAILED", "did not report its address"),
    ],
)
def test_child_that_does_not_come_up_is_explained(code: str, reason: str, says: str) -> None:
    running = stack(code)
    with pytest.raises(Unavailable) as refused:
        running.start()
    assert refused.value.reason == reason
    assert says in refused.value.message
    assert not running.log_path.exists()


def test_failure_shows_what_this_start_has_logged(tmp_path: Path) -> None:
    def refused(reason: str, says: str) -> str:
        code = f"""import sys; print('at fault', file=sys.stderr)
print('{{"error": "{says}", "reason": "{reason}"}}', flush=True)"""
        running = stack(code, tmp_path)
        (tmp_path / "stack.log").write_text("of a start before\n")
        with pytest.raises(Unavailable) as failure:
            running.start()
        return failure.value.message

    shown = refused("ADDRESS_UNUSABLE", "is another server using it?")
    assert shown.endswith("failed: is another server using it? Its log ends:\n  | at fault")
    # The log of a folder in use is another service's.
    assert refused("DATA_DIR_IN_USE", "Stop it.").endswith("failed: Stop it.")


def test_silent_child_is_killed_after_the_timeout() -> None:
    with pytest.raises(Unavailable, match="not ready within"):
        stack("import sys; sys.stdin.read()", start_timeout_s=0.2).start()


def test_child_that_will_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svddtune.client.runs.embedded._STOP_S", 0.2)
    code = READY + "import threading; threading.Event().wait()"
    with stack(code) as running:
        process = running._process
    assert process is not None
    assert process.returncode == -9
