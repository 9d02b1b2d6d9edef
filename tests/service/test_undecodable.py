"""Undecodable bytes: the call ends with a reason, the log gets one line, and the server goes on."""

import asyncio
import json
import os
import random
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from tests.e2e.processes import Process, service
from tests.fuzz.calls import BROKEN, random_calls
from tests.service.harness import CALL_S, harness_at, header
from tests.service.methods import METHODS, ask, ask_fully, path
from tests.service.support import error_info, reason_of, status_of
from tests.waiting import wait_until

from svddtune.service.access.ownership import Ownership
from svddtune.service.conversation import Conversation, StreamContext
from svddtune.service.draining import Draining, ServerDraining
from svddtune.service.labeling import Labeling
from svddtune.service.shared import SharedSessions
from svddtune.stack import EmbeddedServer
from svddtune.state.connect import connect_async
from svddtune.state.datasets import DatasetStore
from svddtune.state.notices import Notices
from svddtune.state.projects import Owners
from svddtune.state.store import SessionStore
from svddtune.v1 import oracle_pb2

pytestmark = pytest.mark.integration

# Field 1, a string in nearly every request, that is no UTF-8; and a field without its end.
NOT_UTF_8, CUT_OFF = b"\x0a\x01\xff", b"\x0a\x05a"
# Longer than a loaded machine needs to send a Hello.
PATIENCE_S = 1.0
GET, CONVERSE, UPLOAD = (
    next(method for method in METHODS if method.name == name)
    for name in ("GetSession", "Converse", "UploadDataset")
)
# How many random calls are made.
CALLS = int(os.environ.get("SVDDTUNE_RANDOM_CALLS", "1000"))


@dataclass
class Watched:
    """A service whose log is read."""

    process: Process
    log: Path

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        """What it has logged: all, or one kind of event. All of it must be lines of JSON."""
        entries = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [entry for entry in entries if not event or entry["event"] == event]


@pytest.fixture(scope="module")
def watched(
    redis_server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    log = tmp_path_factory.mktemp("service") / "log"
    patience = ("--hello-timeout-s", str(PATIENCE_S), "--upload-timeout-s", str(PATIENCE_S))
    with service(redis_server.url, "127.0.0.1:0", *patience, log=log) as process:
        yield Watched(process, log)


@pytest.fixture
def channel(watched: Watched) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(watched.process.ready["address"]) as channel:
        yield channel


@pytest.mark.parametrize("method", METHODS, ids=path)
def test_undecodable_message_to_any_method_is_refused_with_a_reason(
    channel: grpc.Channel, watched: Watched, redis_url: str, method: MethodDescriptor
) -> None:
    code, error = ask_fully(channel, method, CUT_OFF)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert error is not None
    info = error_info(status_of(error))
    assert (info.reason, info.metadata["method"]) == ("UNDECODABLE_MESSAGE", path(method))
    watched.lines()


def test_many_undecodable_messages_make_few_lines_that_count_them_all(
    channel: grpc.Channel, watched: Watched, redis_url: str
) -> None:
    def counted() -> int:
        return sum(line["count"] for line in watched.lines("undecodable message"))

    # (Those of other tests may still be uncounted.)
    wait_until(lambda: ask(channel, GET, NOT_UTF_8) is not None and counted() > 0)
    before, lines = counted(), len(watched.lines("undecodable message"))
    for _ in range(300):
        assert ask(channel, GET, NOT_UTF_8) is grpc.StatusCode.INVALID_ARGUMENT
    wait_until(lambda: counted() >= before + 300)
    assert len(watched.lines("undecodable message")) - lines < 30


def test_undecodable_message_ends_the_stream_after_the_messages_before_it(
    channel: grpc.Channel, watched: Watched, redis_url: str
) -> None:
    with harness_at(watched.process.ready["address"], redis_url) as harness:
        name = harness.session().name
        hello = oracle_pb2.Hello(min_protocol_version=1, labeler="ann", sessions=[name], credit=1)
        answer = oracle_pb2.Answer(answer_id="a", observation_id="11", verdict=1)  # type: ignore[arg-type]
        sent = [
            oracle_pb2.ConverseRequest(hello=hello).SerializeToString(),
            oracle_pb2.ConverseRequest(answer=answer).SerializeToString(),
            # A source reference that is no UTF-8.
            b"\x1a\x06" + b"\x0a\x01b\x3a\x01\xff",
        ]
        # The client's side stays open: the server ends the stream.
        gone = threading.Event()
        code, error = ask_fully(channel, CONVERSE, *sent, until=gone)
        gone.set()
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert error is not None
        assert reason_of(error) == "UNDECODABLE_MESSAGE"
        assert harness.get(name).counts.total == 1


def test_random_messages_never_break_a_method(
    channel: grpc.Channel, watched: Watched, redis_url: str
) -> None:
    seed = random.randrange(2**32)
    with harness_at(watched.process.ready["address"], redis_url) as harness:
        for call in random_calls(channel, harness, seed=seed, runs=CALLS):
            assert call.code not in BROKEN, (seed, call)
        assert harness.session().name
    # Every line is JSON, and none has a traceback.
    assert [line for line in watched.lines() if "exception" in line] == []


# Clients that say nothing


HEADER = header().SerializeToString()


@pytest.mark.parametrize(
    ("method", "messages", "reason"),
    [
        (CONVERSE, [], "HELLO_TIMEOUT"),
        (UPLOAD, [], "UPLOAD_TIMEOUT"),
        (UPLOAD, [HEADER], "UPLOAD_TIMEOUT"),
    ],
    ids=["no hello", "no header", "no rows"],
)
def test_stream_without_hello_ends_after_the_time_limit(
    channel: grpc.Channel,
    redis_url: str,
    method: MethodDescriptor,
    messages: list[bytes],
    reason: str,
) -> None:
    gone = threading.Event()
    code, error = ask_fully(channel, method, *messages, until=gone)
    gone.set()
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert error is not None
    assert reason_of(error) == reason


def test_silence_after_hello_has_no_time_limit(watched: Watched, redis_url: str) -> None:
    with harness_at(watched.process.ready["address"], redis_url) as harness:
        labeler = harness.labeler(harness.session().name)
        labeler.expect("welcome")
        assert harness.silent().end() is not None
        # Its time is over by now, that of the other one would be too.
        labeler.send(credit=oracle_pb2.Credit(queries=2))
        labeler.expect("assign")


# The reader of a stream


async def _talk(
    redis_url: str, requests: AsyncIterator[oracle_pb2.ConverseRequest]
) -> BaseException | None:
    client = connect_async(redis_url)
    store = SessionStore(client)
    context = StreamContext(
        Labeling(store, DatasetStore(client), Ownership(Owners(client), kept_apart=False)),
        SharedSessions(store),
        Notices(client),
        Draining(),
        stream_s=60.0,
        hello_s=60.0,
    )
    try:
        # (Nothing is written before Hello.)
        await Conversation(context, None).run(requests)  # type: ignore[arg-type]
    except BaseException as error:
        return error
    finally:
        await client.aclose()
    return None


@pytest.mark.parametrize(
    ("fault", "ends_with"),
    [(OSError("broken"), OSError), (asyncio.CancelledError(), ServerDraining)],
    ids=["fault", "cancellation"],
)
def test_stream_ends_with_the_error_of_its_reader(
    redis_url: str, fault: BaseException, ends_with: type[BaseException]
) -> None:
    async def requests() -> AsyncIterator[oracle_pb2.ConverseRequest]:
        raise fault
        yield

    error = asyncio.run(asyncio.wait_for(_talk(redis_url, requests()), CALL_S))
    assert isinstance(error, ends_with)
