"""Names and notes of strangers steer no terminal, forge no line and run no formula."""

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.scene import blob
from tests.text.test_text import steers

from svddtune.client import EmbeddedStack, Session, TuningClient
from svddtune.client.cli.app import run
from svddtune.client.cli.outside import outside_table, write_outside
from svddtune.client.files.data import read_data
from svddtune.client.files.read_table import read_table
from svddtune.client.outside import OutsideRow
from svddtune.client.terminal.output import say, stdout, tell
from svddtune.client.tickets.observations import Columns, read_observations

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m[red]x[/red]\u202e\u2066\nsvddtune: all is well\r :bomb:"
IDS = [f"{HOSTILE}{row}" for row in range(60)]

Printed = pytest.CaptureFixture[str]


def is_harmless(printed: str) -> bool:
    return not steers(printed.replace("\n", "")) and not re.search(
        r"^svddtune: all is well", printed, re.MULTILINE
    )


@pytest.fixture(scope="module")
def session(stack: EmbeddedStack) -> Iterator[Session]:
    with TuningClient(stack.address) as client:
        data = client.upload_dataset(
            blob(41)[0],
            observation_ids=IDS,
            feature_names=[HOSTILE, "b"],
            display=[{"note": HOSTILE, HOSTILE: "v"} for _ in IDS],
            name=HOSTILE,
        )
        made = client.create_session(data, budget=6, name=HOSTILE)
        with client.tuning(made, labeler="ann") as tuning:
            for query in tuning.queries():
                tuning.answer(query, "inlier", source_reference=HOSTILE[:200])
        client.wait_until_completed(made)
        yield made
        client.delete_session(made)


@pytest.mark.integration
@pytest.mark.parametrize(
    "command", ["sessions", "watch {name}", "labelers {name}", "export {name} --out m.npz"]
)
def test_control_characters_in_names_are_escaped_by_commands(
    command: str,
    stack: EmbeddedStack,
    session: Session,
    capsys: Printed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = command.format(name=session.name).split()
    assert run([*arguments, "--server", stack.address]) == 0
    out, err = capsys.readouterr()
    assert out
    assert is_harmless(out)
    assert is_harmless(err)
    assert run([*arguments, "--server", stack.address, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.integration
def test_control_characters_in_ids_are_escaped_by_tune(
    stack: EmbeddedStack, capsys: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = blob(42)
    with Path("$x_1$.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "class"])
        writer.writerows(zip(IDS, *X.T.tolist(), y.tolist(), strict=True))
    arguments = "--id-column id --label-column class --budget 12 --scaling minmax --out found"
    assert run(["tune", "$x_1$.csv", *arguments.split(), "--server", stack.address]) == 0
    out, err = capsys.readouterr()
    assert r"\x1b]0;owned" in out
    assert is_harmless(out)
    assert is_harmless(err)


def test_control_characters_in_tickets_are_escaped(tmp_path: Path, capsys: Printed) -> None:
    tickets, rows = tmp_path / "t.jsonl", tmp_path / "o.csv"
    record = {"event_id": HOSTILE, "status": "5", "disposition": HOSTILE}
    other = {"event_id": f"{HOSTILE}2", "status": "5", "disposition": "disposition:1"}
    tickets.write_text(json.dumps(record) + "\n" + json.dumps(other) + "\n")
    rows.write_text("id\nr1\n")
    command = ["oracle", "check", str(tickets), "--mapping", "splunk-es"]
    assert run([*command, "--observations", str(rows), "--map", f"{HOSTILE}=inlier"]) == 0
    assert run([*command, "--observations", str(rows)]) == 0
    assert run([*command, "--observations", str(rows), "--strict"]) == 1
    out, err = capsys.readouterr()
    assert r"\x1b]0;owned" in out
    assert is_harmless(out)
    assert is_harmless(err)


def test_control_characters_in_files_are_escaped_in_errors(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "d.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["a", HOSTILE], ["1", HOSTILE]])
    assert run(["tune", str(path)]) == 1
    assert run(["tune", str(path), "--label-column", f"no {HOSTILE}"]) == 2
    assert run(["tune", str(tmp_path / HOSTILE.replace("/", ""))]) == 2
    assert run(["label", HOSTILE, "--labeler", HOSTILE]) != 0
    out, err = capsys.readouterr()
    assert r"\x1b]0;owned" in err
    assert is_harmless(out + err)


def test_printed_text_has_no_control_characters(capsys: Printed) -> None:
    say(HOSTILE.replace("\n", ""))
    tell(HOSTILE.replace("\n", ""))
    stdout().print(HOSTILE.replace("\n", ""))
    stdout().print(outside_table([OutsideRow(0, HOSTILE, 1.0)]))
    out, err = capsys.readouterr()
    assert is_harmless(out + err)
    assert out.count("[red]x[/red]") == 3
    assert ":bomb:" in out


def test_csv_for_people_holds_no_formulas(tmp_path: Path) -> None:
    ids = ["=cmd|' /C calc'!A0", "@SUM(A1)", "-1", "plain", "+x"]
    rows = [OutsideRow(row, name, 0.5) for row, name in enumerate(ids)]
    with write_outside(tmp_path / "outside.csv", rows).open(newline="") as file:
        read = [line["observation_id"] for line in csv.DictReader(file)]
    assert read == ["'=cmd|' /C calc'!A0", "'@SUM(A1)", "-1", "plain", "'+x"]


FEATURES = """
schema = 1
key = "labels.instance"
display = ["annotations.summary"]
[[feature]]
kind = "group_count"
"""


def test_observation_files_hold_no_formulas_and_are_read_back_exactly(
    tmp_path: Path, capsys: Printed
) -> None:
    alert = {
        "status": "firing",
        "startsAt": "2024-03-12T15:04:05Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": "=1+1",
        "labels": {"instance": "@host"},
        "annotations": {"summary": "=HYPERLINK(1)"},
    }
    payload = {"version": "4", "groupKey": "k", "status": "firing", "alerts": [alert]}
    (tmp_path / "p.json").write_text(json.dumps(payload))
    (tmp_path / "f.toml").write_text(FEATURES)
    out = tmp_path / "o.csv"
    command = ["observations", "alertmanager", str(tmp_path / "p.json"), "-o", str(out)]
    assert run([*command, "--features", str(tmp_path / "f.toml")]) == 0
    capsys.readouterr()
    with out.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
    data = read_data(read_table(out))
    assert data.ids[0].startswith("=1+1@")
    assert data.display == [{"summary": "=HYPERLINK(1)"}]
    (observation,) = read_observations(out, Columns(), by_window=True)
    assert observation.name == data.ids[0]
    assert observation.key is not None
    assert observation.key.text == "@host"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "svddtune.service", "--redis", "redis://:secret@127.0.0.1:bad/0"],
        pytest.param(
            ["-m", "svddtune.service", "--redis", "http://user:secret@host"], marks=pytest.mark.slow
        ),
        ["-m", "svddtune.worker", "--redis", "redis://:secret#1@127.0.0.1:1/0"],
        pytest.param(
            ["-m", "svddtune.worker", "--redis", "redis://:sec/secret@127.0.0.1/0"],
            marks=pytest.mark.slow,
        ),
        ["-m", "svddtune.stack", "--redis", "redis://:secret#1@127.0.0.1:1/0"],
        pytest.param(
            ["-m", "svddtune.stack", "--redis", "nonsense://:secret@host"], marks=pytest.mark.slow
        ),
        ["-m", "svddtune", "up", "--redis", "redis://:secret@127.0.0.1:1/0"],
        pytest.param(
            ["-m", "svddtune", "serve", "--redis", "redis://:secret@127.0.0.1:bad/0"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_error_about_a_url_hides_its_password(arguments: list[str], tmp_path: Path) -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr
    assert "secret" not in done.stdout + done.stderr
