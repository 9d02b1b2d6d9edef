"""Lines of the log name who calls what; refused callers are named, their credentials are not."""

import json
from typing import Any

import grpc
import httpx
import pytest
from tests.service.access.test_table import INVALID
from tests.service.access.world import OWN, World
from tests.service.harness import refusal
from tests.waiting import wait_until

from svddtune.service.access.identity import LINES_PER_S

pytestmark = pytest.mark.integration

REFUSED = "caller refused"


def lines(world: World, event: str) -> list[dict[str, Any]]:
    found = (json.loads(one) for one in world.log.read_text().splitlines())
    return [one for one in found if one["event"] == event]


def test_refused_callers_are_named_in_few_lines_and_their_credentials_in_none(
    world: World,
) -> None:
    def counted() -> int:
        return sum(one["count"] for one in lines(world, REFUSED))

    before, written = counted(), len(lines(world, REFUSED))
    for _ in range(100):
        refusal(lambda: world.info(INVALID))
    with httpx.Client(base_url=world.process.ready["http"]) as client:
        for _ in range(100):
            headers = {"authorization": f"Bearer {INVALID}"}
            assert client.get("/v1/sessions", headers=headers).status_code == 401
    wait_until(lambda: counted() >= before + 200)
    found = lines(world, REFUSED)[written:]
    # (The calls take some seconds at most.)
    assert len(found) <= 10 * (LINES_PER_S + 1) < 200
    assert {one["reason"] for one in found} >= {"CREDENTIALS_INVALID"}
    assert {one["peer"].partition(":")[0] for one in found} <= {"ipv4", "http"}
    assert INVALID not in world.log.read_text()


def test_lines_about_a_call_name_method_project_caller_and_session(world: World) -> None:
    session = world.as_("admin").create().name
    labeler = world.as_("labeler", name="lea")
    label = refusal(lambda: labeler.label(session, "0"))
    assert label.code() is grpc.StatusCode.PERMISSION_DENIED

    def about() -> list[dict[str, Any]]:
        found = lines(world, REFUSED)
        return [one for one in found if session == f"sessions/{one.get('session_id')}"]

    wait_until(lambda: bool(about()))
    (line,) = about()
    assert line["caller"] == "lea"
    assert line["reason"] == "LABELER_NOT_YOURS"
    assert line["method"] == "OracleService/Answer"
    assert (line["labeler"], line["project"]) == ("lea", OWN)
    stream = labeler.labeler(session, "")
    stream.expect("welcome")

    def openings() -> list[dict[str, Any]]:
        found = lines(world, "stream opened")
        return [one for one in found if session == f"sessions/{one.get('session_id')}"]

    wait_until(lambda: bool(openings()))
    (opened,) = openings()
    assert opened["method"] == "OracleService/Converse"
    assert (opened["labeler"], opened["caller"], opened["project"]) == ("lea", "lea", OWN)
