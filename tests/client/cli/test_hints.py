"""Command lines that commands suggest work when they are pasted, and name what there is."""

import ast
import math
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests.client.cli.hints import hints, words
from tests.client.scene import blob
from tests.prose import ROOT

from svddtune.client import (
    EmbeddedStack,
    LabelCounts,
    LabelerReport,
    Session,
    SessionState,
    TuningClient,
    tune,
)
from svddtune.client.cli.app import app, run
from svddtune.client.cli.labelers import LEAST_CONTROLS, trust_hints
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
def test_trust_that_control_items_tell_is_set_by_the_command_that_is_suggested(
    stack: EmbeddedStack, client: TuningClient, capsys: Printed
) -> None:
    session = client.create_session(
        client.upload_dataset(X),
        strategy="lama",
        budget=40,
        control_share=0.5,
        controls={str(row): "inlier" for row in range(LEAST_CONTROLS)},
        trusts={"eve": 0.9},
    )
    show = ["labelers", session.name, "--server", stack.address]
    with client.tuning(session, labeler="ann") as tuning:
        checked = 0
        for query in tuning.queries():
            control = query.row < LEAST_CONTROLS
            if checked == LEAST_CONTROLS - 1 and control:
                assert run(show) == 0
                assert suggested(capsys) == []
            checked += control
            # Wrong on three of ten.
            tuning.answer(query, "outlier" if control and checked <= 3 else "inlier")
            if checked == LEAST_CONTROLS:
                break
    assert run(show) == 0
    (update,) = suggested(capsys)
    assert words(update) == "session update"
    assert run(update) == 0
    assert client.get_session(session).config.trusts == {"ann": 0.73, "eve": 0.9}
    capsys.readouterr()
    assert run(show) == 0
    assert suggested(capsys) == []
    client.delete_session(session)


@pytest.mark.integration
def test_labeler_that_errs_as_often_as_not_is_better_left_out(session: Session) -> None:
    counts = LabelCounts()
    common = (counts, 9, 0, 0, 0, 1.0, 0, math.nan, 0, math.nan)
    ann, bob = (
        LabelerReport(name, *common, withdrawn, None, LEAST_CONTROLS, trust=0.3)
        for name, withdrawn in (("ann", False), ("bob", True))
    )

    def command(*words: str) -> str:
        return shlex.join(["svddtune", *words])

    (line,) = trust_hints(session, (ann, bob), command)
    id_ = session.name.removeprefix("sessions/")
    assert list(hints(line)) == [["labelers", "withdraw", id_, "ann", "--preview"]]
    few = replace(ann, controls=LEAST_CONTROLS - 1)
    assert list(trust_hints(session, (few,), command)) == []
    ended = replace(session, state=SessionState.COMPLETED)
    assert list(trust_hints(ended, (ann,), command)) == []


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
    known = [f"{row},{int(Y[row])}\n" for row in range(10)]
    Path("known.csv").write_text("id,verdict\n" + "".join(known))
    command = "tune DATA.csv --label-column NAME --budget 8 --retention-s 3600 --server"
    controls = ["--controls", "known.csv", "--control-share", "0.5"]
    assert run([*command.split(), stack.address, *controls]) == 0
    found = suggested(capsys)
    assert [words(one) for one in found] == ["report", "export"]
    for one in found:
        assert run(one) == 0
    assert client.get_session(f"sessions/{found[0][1]}").retention_s == 3600
    reports, _ = client.list_labelers(f"sessions/{found[0][1]}")
    (report,) = [one for one in reports if one.controls]
    assert (report.labeler, report.controls_right) == ("known-labels", report.controls)
    assert {path.suffix for path in Path().iterdir()} >= {".html", ".npz"}
    assert run(["session", "list", "--server", stack.address]) == 0
    assert "kept until" in capsys.readouterr().out
    assert run(["session", "clone", found[0][1], "--server", stack.address]) == 0
    (listed, *_) = client.list_sessions()
    assert listed.retention_s == 3600
    for name in (listed.name, f"sessions/{found[0][1]}"):
        client.delete_session(name)


@pytest.mark.parametrize("option", ["--retention-s 5", "--controls DATA.csv"])
def test_option_about_a_session_is_refused_in_a_run_of_its_own(
    capsys: Printed, option: str
) -> None:
    assert run(["tune", "DATA.csv", "--label-column", "NAME", *option.split()]) == 2
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
