"""The rights in docs/redis.md are enough for a session; where one is missing, the error says so."""

import re
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from tests.clusters import Node, data_options, free_ports
from tests.e2e.processes import service, worker
from tests.service.harness import harness_at, refusal
from tests.service.support import reason_of
from tests.waiting import wait_until

from svddtune.state.connect import connect
from svddtune.state.errors import StoreUnavailable
from svddtune.state.examine import examine
from svddtune.v1 import config_pb2, tuning_pb2

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parent.parent.parent / "docs" / "redis.md"
LINES = re.findall(r"^ACL SETUSER (\w+) on >PASSWORD (.+)$", PAGE.read_text(), re.MULTILINE)
RIGHTS = {user: rights.split() for user, rights in LINES}
LAMA = config_pb2.SessionConfig(budget=3, strategy="QUERY_STRATEGY_LAMA")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A server with the two users, and none without a name."""
    (port,) = free_ports(1)
    with Node(tmp_path, port, *data_options()) as node:
        for user, rights in RIGHTS.items():
            grant(node, user, *rights)
        yield node


def grant(node: Node, user: str, *rights: str) -> None:
    """Make a user anew with these rights."""
    with node.client() as client:
        client.execute_command("ACL", "SETUSER", user, "reset", "on", ">PASSWORD", *rights)


def url(node: Node, user: str) -> str:
    return f"redis://{user}:PASSWORD@127.0.0.1:{node.port}/0"


@pytest.mark.slow
def test_documented_rights_are_enough_for_a_session(node: Node) -> None:
    assert set(RIGHTS) == {"service", "worker"}
    with node.client() as client:
        client.execute_command("ACL", "LOG", "RESET")
    with (
        service(url(node, "service"), "127.0.0.1:0") as process,
        worker(url(node, "worker")),
        harness_at(process.ready["address"], url(node, "service")) as harness,
    ):
        name = harness.create(config=LAMA).name
        labeler = harness.labeler(name)
        for _ in range(LAMA.budget):
            labeler.answer(labeler.expect("assign"))
            labeler.expect("ack")
        wait_until(lambda: harness.get(name).state == tuning_pb2.SESSION_STATE_COMPLETED)
        harness.tuning.ListSessions(tuning_pb2.ListSessionsRequest())
        harness.tuning.DeleteSession(tuning_pb2.DeleteSessionRequest(name=name))
    with node.client() as client:
        refused = {one["object"] for one in client.acl_log()}
    # The worker asks for appendfsync as well, and does without.
    assert refused <= {"config|get"}


@pytest.mark.parametrize(
    ("removed", "named"),
    [("info", "info"), ("@read", "exists|get"), ("@write", "set")],
)
def test_missing_right_stops_the_start_and_is_named(node: Node, removed: str, named: str) -> None:
    grant(node, "service", *RIGHTS["service"], f"-{removed}")
    with (
        connect(url(node, "service"), patience_s=0) as client,
        pytest.raises(StoreUnavailable, match=rf"'({named})'") as refused,
    ):
        examine(client)
    assert refused.value.reason == "STORE_FORBIDDEN"
    assert "docs/redis.md" in refused.value.message


@pytest.mark.parametrize("removed", ["time", "@scripting", "hset"])
def test_right_that_goes_while_it_serves_is_told_to_callers(node: Node, removed: str) -> None:
    with (
        service(url(node, "service"), "127.0.0.1:0") as process,
        harness_at(process.ready["address"], url(node, "service")) as harness,
    ):
        dataset = harness.upload().name
        grant(node, "service", *RIGHTS["service"], f"-{removed}")
        error = refusal(lambda: harness.create(dataset))
        assert (error.code(), reason_of(error)) == (
            grpc.StatusCode.UNAVAILABLE,
            "STORE_FORBIDDEN",
        )
        assert "service" not in (error.details() or "").split()
