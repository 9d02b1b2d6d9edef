"""Exit codes and the one document of --json, of every command: README's table."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.client.scene import blob

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.client.cli.app import app, run

PROGRAM = (sys.executable, "-m", "svddtune")
ROOT = Path(__file__).parents[3]


def commands(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Every command with its options."""
    below = getattr(command, "commands", None)
    if below is None:
        yield names, {option for one in command.params for option in one.opts}
    for name, one in (below or {}).items():
        yield from commands(one, *names, name)


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_unknown_option_is_usage_in_every_command(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--no-such-option"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    for option in {"--json", "--json-lines"} & COMMANDS[command]:
        assert run([*command, "--no-such-option", option]) == 2
        document = json.loads(capsys.readouterr().out)
        assert (document.get("error") or document)["reason"] == "USAGE"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_of_every_command_is_ok(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--help"]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.mark.slow
def test_service_that_is_away_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("session list", "watch x", "export x", "labelers show x", "label x"):
        assert run([*command.split(), "--server", "127.0.0.1:1"]) == 1, command
        assert "[UNAVAILABLE]" in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.e2e
@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [(signal.SIGINT, 130, "INTERRUPTED"), (signal.SIGTERM, 143, "TERMINATED")],
)
@pytest.mark.parametrize("as_json", [True, False])
def test_command_stopped_by_a_signal_exits_with_its_code_and_reason(
    stack: EmbeddedStack, number: signal.Signals, code: int, reason: str, as_json: bool
) -> None:
    with TuningClient(stack.address) as client:
        session = client.create_session(client.upload_dataset(blob(2)[0]))
        process = subprocess.Popen(
            [*PROGRAM, "watch", session.name, "--server", stack.address, *["--json"] * as_json],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stderr is not None
            while "labeling" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
        client.cancel_session(session)
    assert process.returncode == code
    assert err.strip().splitlines()[-1] == f"svddtune: {reason.lower()}"
    if as_json:
        assert json.loads(out)["error"]["reason"] == reason
    else:
        assert out == ""


def test_readme_lists_the_codes() -> None:
    codes = re.findall(r"^\| (\d+) \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert codes == ["0", "1", "2", "3", "129", "130", "143"]
