"""``svddtune webhook send`` with a real service, against a real receiver."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.client.scene import blob
from tests.client.webhooks.receiver import Receiver, command

from svddtune.client import Session, TuningClient
from svddtune.client.webhooks.signature import is_signed, read_secrets

KEY = "whsec_" + "QUJD" * 10


@pytest.fixture
def arguments(tmp_path: Path, service: str, receiver: Receiver) -> list[str]:
    """Arguments of a sender with short delays."""
    key = tmp_path / "key"
    key.write_text(KEY)
    return (
        f"send --server {service} --url {receiver.url} --secret-file {key} "
        f"--state {tmp_path / 'state'} --retry-first 0.01 --retry-most 0.1 "
        "--waiting 0 --interval 0.2 --attempts 2"
    ).split()


def new_session(client: TuningClient, seed: int = 0) -> Session:
    return client.create_session(client.upload_dataset(blob(seed)[0]), budget=10)


def test_events_of_a_session_come_signed_and_in_order(
    client: TuningClient, receiver: Receiver, arguments: list[str], tmp_path: Path
) -> None:
    session = new_session(client)
    with command(tmp_path / "log", *arguments, "--session", session.name) as child:
        first = receiver.next()
        client.label_all(session, {"1": "inlier", "2": "outlier"}, labeler="ann")
        client.finish_session(session)
        events = [first]
        while events[-1].event["type"] != "session.finished":
            events.append(receiver.next())
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
    assert first.event["type"] == "query.waiting"
    assert first.event["data"]["session"] == session.name
    assert events[-1].event["data"]["result"] == f"{session.name}/results/1"
    assert events[-1].event["data"]["reason"] == "COMPLETED"
    keys = read_secrets(tmp_path / "key")
    assert all(is_signed(keys, posted.headers, posted.body) for posted in events)
    assert len({posted.id for posted in events}) == len(events)


def test_sender_that_is_killed_posts_the_same_message_again_and_none_twice(
    client: TuningClient, receiver: Receiver, arguments: list[str], tmp_path: Path
) -> None:
    session = new_session(client)
    client.cancel_session(session)
    receiver.rule = lambda event: 503
    with command(tmp_path / "log", *arguments) as child:
        refused = receiver.next()
        child.kill()
        child.wait()
    receiver.rule = lambda event: 204
    with command(tmp_path / "log", *arguments):
        taken = receiver.next_taken()
        assert (taken.id, taken.body) == (refused.id, refused.body)
        other = new_session(client, 1)
        client.cancel_session(other)
        following = [receiver.next_taken()]
        while following[-1].event["type"] != "session.finished":
            following.append(receiver.next_taken())
    assert {posted.event["data"]["session"] for posted in following} == {other.name}


def test_events_of_a_deleted_session_are_delivered_after_a_restart(
    client: TuningClient, receiver: Receiver, arguments: list[str], tmp_path: Path
) -> None:
    session = new_session(client)
    client.cancel_session(session)
    receiver.rule = lambda event: 503
    with command(tmp_path / "log", *arguments):
        refused = receiver.next()
    client.delete_session(session)
    receiver.rule = lambda event: 204
    with command(tmp_path / "log", *arguments):
        assert receiver.next_taken().id == refused.id


def test_session_whose_events_fail_does_not_hold_up_another(
    client: TuningClient, receiver: Receiver, arguments: list[str], tmp_path: Path
) -> None:
    stuck, free = new_session(client), new_session(client, 1)
    down = True

    def rule(event: dict[str, Any]) -> int:
        return 503 if down and event["data"]["session"] == stuck.name else 204

    receiver.rule = rule
    with command(tmp_path / "log", *arguments):
        while receiver.next().event["data"]["session"] != stuck.name:
            pass
        client.cancel_session(stuck)
        client.cancel_session(free)
        while receiver.next_taken().event["type"] != "session.finished":
            pass
        down = False
        kinds: list[str] = []
        while "session.finished" not in kinds:
            taken = receiver.next_taken()
            if taken.event["data"]["session"] == stuck.name:
                kinds.append(taken.event["type"])
    assert kinds == ["query.waiting", "session.finished"]


def test_message_that_is_refused_becomes_a_dead_letter_and_the_next_one_comes(
    client: TuningClient, receiver: Receiver, arguments: list[str], tmp_path: Path
) -> None:
    session = new_session(client)
    receiver.rule = lambda event: 400 if event["type"] == "query.waiting" else 200
    with command(tmp_path / "log", *arguments):
        refused = receiver.next()
        client.cancel_session(session)
        taken = receiver.next_taken()
    assert taken.event["type"] == "session.finished"
    letters = (tmp_path / "state" / "dead-letters.jsonl").read_text().splitlines()
    letter = json.loads(letters[0])
    assert letter["webhook_id"] == refused.id
    assert letter["error"] == "the receiver answered 400 to 2 attempts"
    assert letter["body"].encode() == refused.body


def test_session_that_is_unknown_ends_the_command_with_its_reason(
    arguments: list[str], tmp_path: Path
) -> None:
    with command(tmp_path / "log", *arguments, "--session", "none") as child:
        assert child.wait(30) == 1
    assert "SESSION_NOT_FOUND" in (tmp_path / "log").read_text()
