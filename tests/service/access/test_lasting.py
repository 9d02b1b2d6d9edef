"""Calls that are open while their callers' credentials end: they end soon after, with a reason."""

import asyncio
import http.client
import json
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
from tests.service.access.world import OWN, Things, World
from tests.service.harness import CALL_S, header, refusal
from tests.service.support import reason_of
from tests.waiting import wait_until

from svddtune.process import tokens
from svddtune.service.access.faults import ProviderAway, Unauthenticated, invalid
from svddtune.service.access.lasting import CHECK_S, as_long_as
from svddtune.v1 import oracle_pb2, scoring_pb2, tuning_pb2

# By when a call must have ended, after its credentials.
SOON_S = CHECK_S + 3.0
REASON = "CREDENTIALS_INVALID"


def grpc_end(call: Callable[[], Any]) -> str:
    """The reason with which a call ends that must not end well."""
    error = refusal(call)
    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    return str(reason_of(error))


def drained(responses: Any, opened: Callable[[], Any]) -> Callable[[], None]:
    """Reads a stream to its end; ``opened`` is called after its first message."""

    def read() -> None:
        for _ in responses:
            opened()

    return read


class Quiet:
    """Requests of a stream whose client sends some, and then nothing until it is told to end."""

    def __init__(self, *messages: Any, over: threading.Event | None = None) -> None:
        self._messages = messages
        self._over = over or threading.Event()

    def __iter__(self) -> Iterator[Any]:
        yield from self._messages
        self._over.wait(CALL_S)

    def end(self) -> None:
        self._over.set()


@pytest.mark.integration
def test_every_open_call_ends_when_its_token_is_revoked(world: World, things: Things) -> None:
    admin = world.as_("admin")
    session = admin.session().name
    # (No worker prepares it, so that whoever asks it for a query waits.)
    unprepared = admin.create().name
    token, text = tokens.create(world.file, name="lea", project=OWN, role="admin")
    lea = world.as_token(text)
    labeler = lea.labeler(unprepared, "", credit=2)
    labeler.expect("welcome")
    url, headers = world.process.ready["http"], {"authorization": f"Bearer {text}"}
    opened: list[str] = []
    over = threading.Event()

    def watched() -> str:
        request = tuning_pb2.WatchSessionRequest(name=session)
        calls = lea.tuning.WatchSession(request, timeout=CALL_S)
        return grpc_end(drained(calls, lambda: opened.append("watch")))

    def scored() -> str:
        head = scoring_pb2.ScoreStreamHeader(model=things.model)
        parts = Quiet(scoring_pb2.ScoreStreamRequest(header=head), over=over)
        opened.append("score")
        return grpc_end(lambda: list(lea.scoring.ScoreStream(iter(parts), timeout=CALL_S)))

    def uploaded() -> str:
        opened.append("upload")
        parts = Quiet(header(), over=over)
        return grpc_end(lambda: lea.datasets.UploadDataset(iter(parts), timeout=CALL_S))

    def leased() -> str:
        opened.append("lease")
        request = oracle_pb2.LeaseRequest(session=unprepared, wait_seconds=20)
        return grpc_end(lambda: lea.oracle.Lease(request, timeout=CALL_S))

    def read(path: str, accept: str) -> str:
        wanted = headers | {"accept": accept}
        with httpx.stream("GET", f"{url}{path}", headers=wanted, timeout=CALL_S) as response:
            assert response.status_code == 200
            lines = []
            for line in response.iter_lines():
                lines.append(line)
                opened.append(accept)
        (last,) = [one for one in lines if '"error"' in one]
        error = json.loads(last.removeprefix("data: "))["error"]
        assert error["status"] == "UNAUTHENTICATED"
        return str(error["details"][0]["reason"])

    def connected() -> str:
        message = json.dumps({"name": session}).encode()
        with httpx.stream(
            "POST",
            f"{url}/svddtune.v1.TuningService/WatchSession",
            content=struct.pack(">BI", 0, len(message)) + message,
            headers=headers | {"content-type": "application/connect+json"},
            timeout=CALL_S,
        ) as response:
            found = b""
            for piece in response.iter_raw():
                found += piece
                opened.append("connect")
        error = json.loads(found[found.rindex(b'{"error"') :])["error"]
        assert error["code"] == "unauthenticated"
        return str(error["details"][0]["debug"]["reason"])

    def posted() -> str:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=CALL_S)
        connection.putrequest("POST", "/v1/datasets")
        typed = headers | {"content-type": "application/x-ndjson", "transfer-encoding": "chunked"}
        for name, text in typed.items():
            connection.putheader(name, text)
        line = b'{"header": {"observation_count": 12, "feature_count": 2}}\n'
        connection.endheaders()
        connection.send(b"%x\r\n%s\r\n" % (len(line), line))
        opened.append("lines")
        response = connection.getresponse()
        assert response.status == 401
        error = json.loads(response.read())["error"]
        connection.close()
        return str(error["details"][0]["reason"])

    calls: Sequence[Callable[[], str]] = (
        *(watched, scored, uploaded, leased, connected, posted),
        lambda: read(f"/v1/{session}:watch", "application/x-ndjson"),
        lambda: read(f"/v1/{session}:watch", "text/event-stream"),
    )
    with ThreadPoolExecutor(len(calls)) as pool:
        ends = [pool.submit(call) for call in calls]
        wait_until(lambda: len(set(opened)) == len(calls))
        began = time.monotonic()
        tokens.revoke(world.file, token.id)
        error = labeler.end()
        assert time.monotonic() - began < SOON_S
        assert [end.result(CALL_S) for end in ends] == [REASON] * len(calls)
        over.set()
    assert error is not None
    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    assert reason_of(error) == REASON
    # Its labeler waits for queries no more.
    admin.worker.work_off()
    assert admin.labeler(unprepared, "", credit=3).expect("assign").query == 1
    wait_until(lambda: admin.get(unprepared).leased_count == 3)


EVERY_S = 0.002


async def until(event: asyncio.Event, check: Callable[[], Any]) -> None:
    async with as_long_as(check, every_s=EVERY_S):
        await event.wait()


def test_checks_that_cannot_be_made_end_nothing() -> None:
    async def run() -> None:
        made, ends = 0, asyncio.Event()

        async def check() -> None:
            nonlocal made
            made += 1
            if made > 5:
                ends.set()
            raise ProviderAway("IDENTITY_PROVIDER_UNAVAILABLE", "Away.")

        await until(ends, check)
        assert made > 5

    asyncio.run(run())


def test_failed_check_cancels_the_work_and_is_its_error() -> None:
    cleaned = []

    async def run() -> None:
        async def check() -> None:
            raise invalid("they ended")

        async with as_long_as(check, every_s=EVERY_S):
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(EVERY_S)
                cleaned.append(True)

    with pytest.raises(Unauthenticated, match="they ended"):
        asyncio.run(run())
    assert cleaned


@pytest.mark.parametrize("error", [TimeoutError("own"), KeyError("own"), invalid("own")])
def test_errors_of_the_work_are_its_own(error: Exception) -> None:
    async def run() -> None:
        async def check() -> None:
            pass

        async with as_long_as(check):
            raise error

    with pytest.raises(type(error), match="own"):
        asyncio.run(run())
