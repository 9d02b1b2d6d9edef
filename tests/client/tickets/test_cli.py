"""``svddtune oracle check``, ``replay`` and ``mappings`` as people and programs call them."""

import json
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.client.scene import blob
from tests.client.tickets.exports import csv_text, json_lines, mapping_file, ticket
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.client.cli.app import run

PROGRAM = (sys.executable, "-c", "from svddtune.client.cli import main; main()")
IDS = [f"obs-{n}" for n in range(60)]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("SVDDTUNE_SERVER", "SVDDTUNE_DEBUG", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    mapping_file(tmp_path)
    (tmp_path / "rows.csv").write_text("id\n" + "\n".join(IDS) + "\n")
    return tmp_path


def tickets(folder: Path, *rows: int, **changes: Any) -> None:
    json_lines(
        folder / "tickets.jsonl",
        [ticket(f"SEC-{n}", row=IDS[n]) | changes for n in rows],
    )


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(["oracle", *arguments])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    return code, err.removeprefix("svddtune: ").rstrip()


CHECK = ("check", "tickets.jsonl", "--mapping", "desk.toml", "--observations", "rows.csv")


def test_check_prints_the_whole_report_and_sends_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    json_lines(
        folder / "tickets.jsonl",
        [
            ticket("SEC-1", row="obs-1"),
            ticket("SEC-2", "false alarm", row="obs-1"),
            ticket("SEC-3", "false alarm", row="obs-3"),
            ticket("SEC-4", "[bold]", row="obs-4"),
            ticket("SEC-5", row="OBS-5"),
            ticket("SEC-6", row=["obs-6", "obs-7"]),
            ticket("SEC-8", state="open", row="obs-8"),
        ],
    )
    assert run(["oracle", *CHECK]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "7 tickets in 7 records, mapping desk 3"
    table = {tuple(line.split()) for line in lines}
    assert ("confirmed", "outlier", "3", "1") in table
    assert ("false", "alarm", "inlier", "2", "2") in table
    assert ("confirmed", "abstains:", "open", "1", "1") in table
    assert ("[bold]", "abstains:", "not", "mapped", "1", "1") in table
    assert ("no", "ticket", "56") in table
    assert ("with", "a", "verdict", "1.67%", "of", "60") in table
    assert "Observations on which tickets contradict each other: 1" in lines
    assert "  obs-1: SEC-1 outlier, SEC-2 inlier" in lines
    assert "  SEC-6 (tickets.jsonl line 6): obs-6, obs-7" in lines
    assert "  ticket SEC-5 (tickets.jsonl line 5) has OBS-5, an observation has obs-5" in lines
    assert "Tickets that match no observation: 1 (1 with a verdict): SEC-5" in lines
    assert any(
        line.startswith("! Tickets exist only for what an older rule raised") for line in lines
    )


def test_check_prints_the_same_report_as_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tickets(folder, 1, 2)
    assert run(["oracle", *CHECK, "--map", "confirmed=inlier", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads(out)
    assert document["session"] is None
    report = document["report"]
    assert (report["tickets"], report["inliers"], report["outliers"]) == (2, 2, 0)
    assert report["overrides"] == ["confirmed=inlier"]
    assert report["observations"] == 60


def test_check_joins_by_key_and_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "events.csv").write_text(
        csv_text(
            ["observation", "host", "when"],
            [["a", "web", "2024-05-01 12:00"], ["b", "web", "2024-05-01 13:00"]],
        )
    )
    json_lines(folder / "tickets.jsonl", [ticket("T", host="web", seen="2024-05-01T10:10:00Z")])
    options = (
        "check tickets.jsonl --mapping desk.toml --observations events.csv --key-column host "
        "--time-column when --window 10m --time-zone Europe/Berlin --json"
    )
    assert run(["oracle", *options.split(), "--observation-time", "%Y-%m-%d %H:%M"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert (report["matched"], report["outliers"]) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--window", "15"), 2, "--window: '15' is not a duration; write it like 90s, 15m"),
        (("--time-zone", "Mars"), 2, "--time-zone: 'Mars' is not a time zone"),
        (("--observation-time", "x"), 2, "--observation-time: 'x' is not a time format"),
        (("--several", "some"), 2, "Invalid value for '--several'"),
        (("--map", "x"), 1, "'x' is not a mapping of a value; write VALUE=VERDICT"),
        (("--mapping", "splunk"), 1, "There is no mapping 'splunk'; use one of aws-security-hub, "),
        (("--mapping", "none.toml"), 1, "none.toml: No such file or directory"),
        (("--mapping", "jira"), 1, "Mapping jira does not say which field of a ticket holds the"),
        (("--id-column", "name"), 1, "rows.csv line 2: no field 'name' among id. Name the field"),
        (("--strict", "--map", "confirmed=outlier"), 1, "Mapping desk does not know these values"),
    ],
)
def test_mistakes_are_reported_in_one_line(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    tickets(folder, 1, verdict="?")
    assert run(["oracle", *CHECK, *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"svddtune: {message}"), err
    assert err.count("\n") == 1


def test_broken_export_is_reported_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "tickets.jsonl").write_text('{"key": "a"}\n{"key"')
    assert failure(capsys, *CHECK) == (
        1,
        "tickets.jsonl line 2: not JSON: Expecting ':' delimiter at column 7 [TICKETS_INVALID]",
    )


@pytest.mark.parametrize("interval", ["0s", "5", "soon"])
def test_interval_must_be_a_duration(
    folder: Path, capsys: pytest.CaptureFixture[str], interval: str
) -> None:
    tickets(folder, 1)
    replay = ("replay", "tickets.jsonl", "--mapping", "desk.toml", "--session", "s")
    code, message = failure(capsys, *replay, "--interval", interval)
    assert code == 2
    assert message.startswith(f"--interval: {interval!r} is not ")


def test_mappings_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["oracle", "mappings"]) == 0
    assert "microsoft-sentinel" in capsys.readouterr().out
    assert run(["oracle", "mappings", "splunk-es"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["name"] == "splunk-es"
    assert run(["oracle", "mappings", "--json"]) == 0
    listed = {m["name"]: m for m in json.loads(capsys.readouterr().out)["mappings"]}
    assert listed["aws-security-hub"]["abstain"] == ["BENIGN_POSITIVE", "UNKNOWN"]
    assert failure(capsys, "mappings", "nobody")[0] == 1


def new_session(client: TuningClient, budget: int = 20) -> str:
    dataset = client.upload_dataset(blob(3)[0], observation_ids=IDS)
    return client.create_session(dataset, budget=budget, strategy="random").name


@pytest.mark.integration
def test_replay_shows_a_dry_run_and_sends_what_differs(
    folder: Path,
    stack: EmbeddedStack,
    client: TuningClient,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tickets(folder, 1, 2)
    session = new_session(client)
    replay = [
        *("oracle", "replay", "tickets.jsonl", "--mapping", "desk.toml", "--when", "all"),
        *("--session", session.removeprefix("sessions/"), "--server", stack.address),
    ]
    assert run(replay) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "2 tickets in 2 records, mapping desk 3"
    assert f"{session} (" in out
    assert "room for 20; the tickets have 2 verdicts" in out
    assert lines[-1] == "2 verdicts given without a query (done)"
    assert err.splitlines()[-1] == "2 verdicts given without a query"
    labels = [event for event in client.labels(session) if event.kind == "labeled"]
    assert {(e.labeler, e.source_reference) for e in labels} == {
        ("desk-replay", "SEC-1"),
        ("desk-replay", "SEC-2"),
    }
    tickets(folder, 1, 2, 3, verdict="false alarm")
    assert run([*replay, "--json"]) == 0
    out, _ = capsys.readouterr()
    document = json.loads(out)
    assert document["sent"] | {"refused": 0} == {
        **dict.fromkeys(("answered", "skipped", "retracted", "unused", "left", "refused"), 0),
        "labelled": 1,
        "corrected": 2,
    }
    assert document["session"]["given"] == 0
    assert document["ended"] == "done"
    assert run(["oracle", *CHECK, "--session", session, "--server", stack.address, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["session"]["given"] == 3
    client.cancel_session(session)
    assert run(replay) == 1
    assert "is cancelled and takes no labels" in capsys.readouterr().err


@pytest.mark.integration
def test_observations_of_the_session_are_joined_without_a_file(
    folder: Path,
    stack: EmbeddedStack,
    client: TuningClient,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clocks = [f"2024-05-01T10:{n:02}:00Z" for n in range(60)]
    dataset = client.upload_dataset(
        blob(3)[0],
        observation_ids=IDS,
        display=[{"host": "web", "when": clock, "id": "shown"} for clock in clocks],
    )
    session = client.create_session(dataset, budget=20, strategy="random")
    records = [
        ticket("T7", host="web", seen="2024-05-01T10:07:20Z", row="obs-7"),
        ticket("T9", host="Web", seen="2024-05-01T10:09:20Z", row="OBS-9"),
    ]
    json_lines(folder / "tickets.jsonl", records)
    check = ["oracle", "check", "tickets.jsonl", "--mapping", "desk.toml", "--json"]
    check += ["--session", session.name, "--server", stack.address]
    columns = ["--key-column", "host", "--time-column", "when", "--before", "30s"]
    for join in ([], columns):
        assert run([*check, *join]) == 0
        report = json.loads(capsys.readouterr().out)["report"]
        assert (report["observations"], report["covered"], report["outliers"]) == (60, 1, 1)
        assert report["near_misses"]["count"] == 1
    assert run([*check, "--before", "30s"]) == 1
    assert "observation 0: no field 'key' among host, when, id" in capsys.readouterr().err
    (folder / "few.csv").write_text("id\nobs-7\n")
    assert run([*check[:-5], "--observations", "few.csv", *check[-4:]]) == 0
    assert "! The file has 1 observations, the session has 60." in capsys.readouterr().out
    client.cancel_session(session)


@pytest.mark.integration
def test_replay_follows_a_file_until_it_is_interrupted(
    folder: Path, stack: EmbeddedStack, client: TuningClient
) -> None:
    tickets(folder, 1)
    session = new_session(client)
    process = subprocess.Popen(
        [
            *PROGRAM,
            *("oracle", "replay", "tickets.jsonl", "--mapping", "desk.toml", "--when", "all"),
            *("--session", session, "--server", stack.address, "--follow", "--interval", "20ms"),
            "--json",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def sources() -> set[str]:
        return {event.source_reference for event in client.labels(session)}

    try:
        wait_until(lambda: "SEC-1" in sources(), timeout_s=15)
        with (folder / "tickets.jsonl").open("a") as file:
            file.write(json.dumps(ticket("SEC-2", row=IDS[2])) + '\n{"half')
        wait_until(lambda: "SEC-2" in sources(), timeout_s=15)
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=15)
    assert process.returncode == 0, err
    document = json.loads(out)
    assert (document["sent"]["labelled"], document["ended"]) == (2, "stopped")
    assert "Traceback" not in err
    client.cancel_session(session)
