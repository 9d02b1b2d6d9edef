"""``svddtune webhook receive``: real HTTP, a real service for labels."""

import hashlib
import hmac
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.alertmanager.scene import TOML, alert
from tests.client.webhooks.receiver import command

from svddtune.client import TuningClient
from svddtune.client.alertmanager import load_features
from svddtune.client.tickets.mapping_file import load_mapping
from svddtune.client.webhooks.collection import Collection

DESK = Path(__file__).parents[1] / "tickets" / "desk.toml"
SECRET = "a secret of the tests"


def notification(*alerts: dict[str, Any], version: str = "4") -> dict[str, Any]:
    return {"version": version, "groupKey": "{}", "status": "firing", "alerts": list(alerts)}


@contextmanager
def receiving(tmp_path: Path, *arguments: str) -> Iterator[httpx.Client]:
    """Run the command; yield an HTTP client of it."""
    (tmp_path / "secret").write_text(SECRET)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    given = ("--listen", listen, "--secret-file", str(tmp_path / "secret"), *arguments)
    with (
        command(tmp_path / "log", "receive", *given),
        httpx.Client(
            base_url=f"http://{listen}",
            headers={"authorization": f"Bearer {SECRET}"},
            timeout=30,
        ) as http,
    ):
        until = time.monotonic() + 60
        while True:
            try:
                http.get("/health")
                break
            except httpx.ConnectError:
                assert time.monotonic() < until, (tmp_path / "log").read_text()
                time.sleep(0.05)
        yield http


def collecting(tmp_path: Path) -> tuple[str, ...]:
    features = tmp_path / "features.toml"
    features.write_text(TOML)
    return ("--folder", str(tmp_path / "alerts"), "--features", str(features))


def test_alerts_are_kept_once_over_a_kill_and_become_a_dataset(
    tmp_path: Path, client: TuningClient
) -> None:
    arguments = collecting(tmp_path)
    with receiving(tmp_path, *arguments) as http:
        first = notification(alert("a"), alert("b"))
        assert http.post("/alertmanager", json=first).json() == {"new": 2, "observations": 2}
    with (tmp_path / "alerts" / "payloads.jsonl").open("a") as file:
        file.write('{"version": "4", "al')  # a line that was being written
    with receiving(tmp_path, *arguments) as http:
        assert http.post("/alertmanager", json=first).json() == {"new": 0, "observations": 2}
        grafana = notification(
            alert("c", values={"B": 1.5}, annotations={"value": "3"}), version="1"
        )
        assert http.post("/grafana", json=grafana).json() == {"new": 1, "observations": 3}
    printed = subprocess.run(
        [
            *(sys.executable, "-m", "svddtune.client", "webhook", "dataset", arguments[1]),
            *("--features", arguments[3], "--server", client.address),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    ids = [one.observation_id for one in client.list_observations(printed)]
    assert [one.partition("@")[0] for one in ids] == ["a", "b", "c"]


def test_generic_records_become_observations(tmp_path: Path) -> None:
    features = tmp_path / "records.toml"
    features.write_text(
        'schema = 1\ndisplay = ["labels.event.host"]\n'
        '[[feature]]\nkind = "number"\nfrom = "labels.event.latency_ms"\n'
    )
    record = {"event": {"id": 7, "time": "2026-02-03T10:11:12Z", "latency_ms": 41.5, "host": "db"}}
    paths = ("--record-id", "event.id", "--record-time", "event.time")
    folder = ("--folder", str(tmp_path / "alerts"), "--features", str(features))
    with receiving(tmp_path, *folder, *paths) as http:
        assert http.post("/records", json=record).json() == {"new": 1, "observations": 1}
        other = {"event": {**record["event"], "id": 8, "tags": ["a"], "note": None}}
        assert http.post("/records", json=[record, other]).json() == {"new": 1, "observations": 2}
        for wrong in (3, [record, 3], {"event": {"id": 9}}, {}):
            error = http.post("/records", json=wrong).json()["error"]
            assert error["reason"] == "PAYLOAD_INVALID", wrong
            assert error["metadata"]["place"].startswith("records["), wrong
    found = Collection(tmp_path / "alerts", load_features(features)).observations()
    assert found.ids == ("7@2026-02-03T10:11:12Z", "8@2026-02-03T10:11:12Z")
    assert found.X.tolist() == [[41.5], [41.5]]
    assert found.display[0] == {"event.host": "db"}


def test_body_that_is_hostile_is_refused_with_a_reason_and_not_stored(tmp_path: Path) -> None:
    with receiving(tmp_path, *collecting(tmp_path), "--max-bytes", "100000") as http:
        bodies = [b"", b"{", b"[" * 50000, b"\xff", b"NaN", b"[]", b"null", b'{"version": "9"}']
        bodies.append(json.dumps(notification(alert(annotations={"value": "many"}))).encode())
        for path in ("/alertmanager", "/grafana"):
            for body in bodies:
                reply = http.post(path, content=body)
                assert (reply.status_code, reply.json()["error"]["reason"]) == (
                    400,
                    "PAYLOAD_INVALID",
                ), body[:50]
        assert http.post("/alertmanager", content=b" " * 100001).status_code == 413
        body = json.dumps(notification(alert())).encode()
        wrong = {"authorization": "Bearer no"}
        assert http.post("/alertmanager", content=body, headers=wrong).status_code == 401
        assert not (tmp_path / "alerts" / "payloads.jsonl").exists()
        digest = hmac.digest(SECRET.encode(), body, hashlib.sha256).hex()
        signed = wrong | {"x-hub-signature-256": f"sha256={digest}"}
        assert http.post("/alertmanager", content=body, headers=signed).status_code == 200


def test_verdict_labels_once_and_a_changed_one_corrects_it(
    tmp_path: Path, client: TuningClient
) -> None:
    dataset = client.upload_dataset([[0.0], [1.0], [2.0]], observation_ids=["a", "b", "c"])
    session = client.create_session(dataset, budget=3)
    arguments = ("--session", session.name, "--mapping", str(DESK), "--server", client.address)
    record = {"key": "T1", "state": "closed", "verdict": "confirmed", "row": "a"}
    with receiving(tmp_path, *arguments) as http:
        for _ in range(2):
            assert http.post("/verdicts", json=record).status_code == 200
        http.post("/verdicts", json=[record | {"verdict": "false alarm"}]).raise_for_status()
        http.post("/verdicts", json=record).raise_for_status()  # late and again
        unknown = http.post("/verdicts", json=record | {"row": "z"}).json()
        assert unknown["refused"][0]["reason"] == "UNKNOWN_OBSERVATION"
        assert http.post("/verdicts", json=[1]).json()["error"]["reason"] == "TICKETS_INVALID"
    events = [one for one in client.labels(session) if one.labeler == "webhook"]
    assert [one.verdict for one in events if one.kind == "labeled"] == ["outlier", "inlier"]
    assert {one.provenance for one in events} == {load_mapping(DESK).provenance}
    assert {one.source_reference for one in events} == {"T1"}


def test_verdict_is_answered_503_while_the_service_is_away(tmp_path: Path) -> None:
    # (A name in full needs no look-up at the start.)
    arguments = ("--session", "sessions/x", "--mapping", str(DESK), "--server", "127.0.0.1:1")
    record = {"key": "T1", "state": "closed", "verdict": "confirmed", "row": "a"}
    with receiving(tmp_path, *arguments) as http:
        reply = http.post("/verdicts", json=record)
    assert reply.status_code == 503
    assert int(reply.headers["retry-after"]) > 0


@pytest.mark.parametrize("given", [[], ["--folder", "x"], ["--session", "x"]])
def test_incomplete_options_are_refused(tmp_path: Path, given: list[str]) -> None:
    with command(tmp_path / "log", "receive", *given) as child:
        assert child.wait(60) == 2
