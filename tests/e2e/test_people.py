"""Three people and a replay of tickets lose nothing if one of two services is killed."""

import csv
import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.processes import service, worker
from tests.e2e.terminal import Person
from tests.numerics.cases import blobs
from tests.waiting import wait_until

from svddtune.client import SessionState, TuningClient, Verdict

pytestmark = [pytest.mark.integration, pytest.mark.e2e, pytest.mark.slow]

BUDGET = 40
MAPPING = """
schema = 1
name = "desk"
product = "Desk"
version = "1"
source = "https://example.org/desk"

[fields]
key = "key"
verdict = "resolution"
observation_id = "row"

[values]
inlier = ["benign"]
outlier = ["malicious"]
"""


def cli(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "svddtune.client", *arguments]


def test_people_and_tickets_label_one_session_through_two_services(
    redis_url: str, tmp_path: Path
) -> None:
    X, y = blobs(300, 4, seed=3)
    tickets, mapping = tmp_path / "tickets.csv", tmp_path / "desk.toml"
    mapping.write_text(MAPPING)
    with tickets.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "row", "resolution"])
        # Tickets have the verdict on a third of the rows; people get the others.
        for row in range(0, len(y), 3):
            writer.writerow([f"T-{row}", row, "benign" if y[row] == 1 else "malicious"])

    with (
        worker(redis_url),
        service(redis_url) as staying,
        service(redis_url) as doomed,
        ExitStack() as leaving,
    ):
        kept, killed = staying.ready["address"], doomed.ready["address"]
        with TuningClient(kept) as client:
            session = client.create_session(
                client.upload_dataset(X), budget=BUDGET, lease_seconds=5
            )
            name = session.name
            people = [
                Person(name, address, labeler, lambda row: "i" if y[int(row)] == 1 else "o")
                for labeler, address in (("ann", kept), ("bob", killed), ("eve", killed))
            ]
            for person in people:
                leaving.callback(person.leave)
            replay = subprocess.Popen(
                cli(
                    *("oracle", "replay", str(tickets), "--mapping", str(mapping)),
                    *("--session", name, "--server", kept, "--when", "asked", "--json"),
                ),
                stdout=subprocess.PIPE,
                text=True,
            )
            leaving.callback(replay.kill)
            wait_until(
                lambda: client.get_session(session).counts.total >= BUDGET // 3, timeout_s=30
            )
            doomed.kill()
            with service(redis_url, listen=killed):
                done = client.wait_until_completed(session, timeout_s=60)
                codes = [person.wait(20) for person in people]
                report, _ = replay.communicate(timeout=20)
            events = list(client.labels(session))
        shown = subprocess.run(
            cli("labelers", "show", name, "--server", kept, "--json"),
            check=True,
            capture_output=True,
            text=True,
        )
    assert done.state is SessionState.COMPLETED
    assert codes == [0, 0, 0], [person.screen for person in people]
    assert replay.returncode == 0, report
    json.loads(report)

    labelled = [event for event in events if event.kind == "labeled"]
    rows = [event.row for event in labelled]
    # No label is lost or doubled, and all are true.
    assert len(rows) == len(set(rows)) == BUDGET
    assert len({event.answer_id for event in labelled}) == BUDGET
    assert all(event.verdict is Verdict.of(int(y[event.row])) for event in labelled)
    by = {one["labeler"]: one for one in json.loads(shown.stdout)["labelers"]}
    assert by.keys() >= {"ann", "bob", "eve", "desk-replay"}
    for labeler, figures in by.items():
        votes = sum(event.labeler == labeler for event in labelled)
        assert figures["asked"] == votes
        assert votes > 0
    assert all(event.row % 3 == 0 for event in labelled if event.labeler == "desk-replay")
