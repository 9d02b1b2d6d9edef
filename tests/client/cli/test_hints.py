"""Command lines that commands suggest work when they are pasted, and name what there is."""

import ast
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests.client.cli.hints import hints, words
from tests.client.scene import blob
from tests.prose import ROOT

from svddtune.client import EmbeddedStack, Session, SessionState, TuningClient, tune
from svddtune.client.cli.app import app, run
from svddtune.client.cli.service import Service
from svddtune.client.runs.waiting import suggesting

CLIENT = ROOT / "client" / "svddtune" / "client"
X, Y = blob(5)
Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("SVDDTUNE_SERVER", "SVDDTUNE_TLS_CA", "SVDDTUNE_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "token").write_text("abc\n")
    table = np.column_stack([X, Y])
    np.savetxt("DATA.csv", table, delimiter=",", header="a,b,NAME", comments="", fmt="%.6g")
    return tmp_path


@pytest.fixture
def session(client: TuningClient) -> Iterator[Session]:
    made = client.create_session(client.upload_dataset(X), budget=20, overlap=2)
    for update in client.watch(made):
        if update.session.state is SessionState.LABELING:
            break
    yield made
    client.delete_session(made)


def suggested(printed: Printed) -> list[list[str]]:
    out, err = printed.readouterr()
    return list(hints(out + err))


@pytest.mark.integration
def test_hints_about_a_session_keep_the_options_that_lead_there(
    stack: EmbeddedStack, session: Session, client: TuningClient, capsys: Printed
) -> None:
    caller, server = ["--token-file", "token"], ["--server", stack.address]

    def told(*command: str) -> list[list[str]]:
        assert run([*caller, *command, *server]) == 0
        return suggested(capsys)

    id_ = session.name.removeprefix("sessions/")
    for command in ("session labels", "labelers"):
        assert told(*command.split(), id_) == []
    client.pause_session(session)
    (resume,) = told("session", "show", id_)
    assert resume == [*caller, "session", "resume", id_, *server]
    assert run(resume) == 0
    capsys.readouterr()
    (label,) = told("session", "show", id_)
    assert label == [*caller, "label", id_, *server]


@pytest.mark.integration
def test_hints_of_a_run_keep_the_options_that_lead_to_its_service(stack: EmbeddedStack) -> None:
    told: list[str] = []
    service = Service(stack.address, Path("ca.pem"))
    with suggesting(service.command):
        tune(
            X,
            lambda query: int(Y[query.row]),
            budget=4,
            overlap=2,
            strategy="lama",
            server=stack.address,
            wait_for_labelers_s=0.5,
            on_progress=lambda progress: told.append(progress.waiting),
        )
    label, finish = list(hints(next(filter(None, told))))
    end = ["--server", stack.address, "--tls-ca", "ca.pem"]
    assert label[0] == "label"
    assert label[2:] == ["--labeler", "NAME", *end]
    assert finish[:2] == ["session", "finish"]
    assert finish[3:] == end


@pytest.mark.slow
@pytest.mark.integration
def test_tune_at_a_service_suggests_what_to_do_with_its_session(
    stack: EmbeddedStack, client: TuningClient, capsys: Printed
) -> None:
    command = "tune DATA.csv --label-column NAME --budget 8 --retention-s 3600 --server"
    assert run([*command.split(), stack.address]) == 0
    found = suggested(capsys)
    assert [words(one) for one in found] == ["report", "export"]
    for one in found:
        assert run(one) == 0
    assert client.get_session(f"sessions/{found[0][1]}").retention_s == 3600
    assert {path.suffix for path in Path().iterdir()} >= {".html", ".npz"}
    assert run(["session", "list", "--server", stack.address]) == 0
    assert "kept until" in capsys.readouterr().out
    assert run(["session", "clone", found[0][1], "--server", stack.address]) == 0
    (listed, *_) = client.list_sessions()
    assert listed.retention_s == 3600
    for name in (listed.name, f"sessions/{found[0][1]}"):
        client.delete_session(name)


def test_retention_of_a_run_of_its_own_is_refused(capsys: Printed) -> None:
    assert run(["tune", "DATA.csv", "--label-column", "NAME", "--retention-s", "5"]) == 2
    assert "give its --server" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.e2e
def test_what_up_suggests_works_while_it_runs(folder: Path, capsys: Printed) -> None:
    program = [sys.executable, "-c", "from svddtune.client.cli import main; main()"]
    options = ["up", "--listen", "127.0.0.1:0", "--workers", "1", "--data-dir", str(folder / "d")]
    with subprocess.Popen([*program, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C"):
                break
        found = list(hints("".join(lines)))
        assert [words(one) for one in found] == ["tune", "dataset add", "session list"]
        for one in found:
            assert run(one) == 0, capsys.readouterr()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(30) == 0


def commands_in(source: Path) -> Iterator[tuple[int, list[str]]]:
    """The command lines that a module makes by `command`, or has in its texts."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            of = ast.unparse(node.func)
            if name == "command" and of in ("command", "service.command", "self.command"):
                yield node.lineno, [_word(one) for one in node.args if not _is_star(one)]
            elif of == "shlex.join" and isinstance(node.args[0], ast.List):
                first, *rest = node.args[0].elts
                if _word(first) == "svddtune" and not any(map(_is_star, rest)):
                    yield node.lineno, [_word(one) for one in rest]
        elif isinstance(node, ast.JoinedStr | ast.Constant):
            for line in re.findall(r"(?:with|it): (svddtune [a-z].*?)(?=\. |\.?$|\n)", _text(node)):
                yield node.lineno, shlex.split(line)[1:]


def _word(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "VALUE"


def _is_star(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(_word(part) for part in node.values)


def test_every_command_that_the_source_suggests_exists() -> None:
    root: Any = typer.main.get_command(app)
    found = []
    for source in sorted(CLIENT.rglob("*.py")):
        for line, given in commands_in(source):
            if given[:1] in ([], ["VALUE"]):  # whatever the caller says
                continue
            place = f"{source.name}:{line}: {' '.join(given)}"
            command, rest = root, list(given)
            while hasattr(command, "commands"):
                assert rest, place
                if rest[0] not in command.commands and command.name == "labelers":
                    rest.insert(0, "show")
                assert rest[0] in command.commands, place
                command = command.commands[rest.pop(0)]
            if command.context_settings.get("ignore_unknown_options"):  # another program's
                continue
            options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
            assert {word for word in rest if word.startswith("-")} <= options, place
            found.append(words(given))
    assert len(found) > 20
    assert {"label", "watch", "export", "report", "session resume", "dataset add", "up"} <= {*found}
