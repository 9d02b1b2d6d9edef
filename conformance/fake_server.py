"""A server that plays a script to a client, behind a TCP relay that can break connections."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import grpc
from google.rpc import status_pb2

from conformance.frames import Json, match, status_of, to_json
from conformance.player import Ended, Player, Step, Stream
from conformance.script import Failure, Script
from svddtune.v1 import oracle_pb2

_CODES = {code.value[0]: code for code in grpc.StatusCode}
# The items that have an Ack or a Reject, and whether they carry a lease, a query and an answer id.
_ITEMS = ("answer", "skip", "release", "retract", "credit")


@dataclass
class ServerStream(Stream):
    """A stream that a client has opened; it ends when ``left`` has a status, None for OK."""

    context: Any = None
    left: asyncio.Future[status_pb2.Status | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    async def send(self, frame: bytes) -> None:
        """Send a frame."""
        with suppress(grpc.aio.BaseError, grpc.RpcError):
            await self.context.write(frame)

    def end(self, status: status_pb2.Status | None = None) -> None:
        """End the stream."""
        if not self.left.done():
            self.left.set_result(status)


class Relay:
    """Passes bytes on between a client and a port of this machine; can cut all connections."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def listen(self) -> None:
        """Accept connections, at the same port as before."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Reset all connections."""
        for writer in self._writers:
            writer.transport.abort()

    def close(self) -> None:
        """Accept no more connections."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def finish(self) -> None:
        """End everything."""
        self.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        for one, other in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._pass_on(one, other))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


class FakeServer:
    """Takes streams of clients in; use it as a context manager.

    Attributes
    ----------
    streams : queue of ServerStream
        The streams that clients have opened.
    relay : Relay
        What clients connect to.
    """

    def __init__(self) -> None:
        self.streams: asyncio.Queue[ServerStream] = asyncio.Queue()
        self._server = grpc.aio.server()
        self._count = 0

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return f"127.0.0.1:{self.relay.port}"

    async def __aenter__(self) -> Self:
        handler = grpc.method_handlers_generic_handler(
            "svddtune.v1.OracleService",
            {"Converse": grpc.stream_stream_rpc_method_handler(self._converse)},
        )
        self._server.add_generic_rpc_handlers((handler,))
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        self.relay = Relay(port)
        await self.relay.listen()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.relay.finish()
        await self._server.stop(None)

    async def _converse(self, requests: AsyncIterator[bytes], context: Any) -> None:
        self._count += 1
        stream = ServerStream(f"stream {self._count}:", context=context)
        self.streams.put_nowait(stream)
        reader = asyncio.create_task(_read(requests, stream))
        try:
            status = await stream.left
        finally:
            reader.cancel()
            stream.inbox.put_nowait(Ended())
        if status is not None:
            trailer = (("grpc-status-details-bin", status.SerializeToString()),)
            await context.abort(_CODES[status.code], status.message, trailer)


async def _read(requests: AsyncIterator[bytes], stream: ServerStream) -> None:
    async for request in requests:
        stream.inbox.put_nowait(request)
    stream.inbox.put_nowait(Ended())


class ServerPlayer(Player):
    """Plays a script to one client."""

    def __init__(
        self,
        script: Script,
        server: FakeServer,
        variables: Mapping[str, Json],
        *,
        patience_s: float,
    ) -> None:
        super().__init__(
            script,
            variables,
            sends=oracle_pb2.ConverseResponse,
            hears=oracle_pb2.ConverseRequest,
            patience_s=patience_s,
        )
        self._server = server
        self._stream: ServerStream | None = None
        self._ended_at = time.monotonic()
        self._leases: set[str] = set()
        self._lost: set[str] = set()

    def stream(self, step: Step) -> ServerStream:
        """Return the stream that was accepted last."""
        assert self._stream is not None
        return self._stream

    def filled(self, template: dict[str, Json]) -> dict[str, Json]:
        """Return a frame to be sent with what the template leaves out."""
        frame = super().filled(template)
        session = self.variables["$session"]
        (kind, item) = next(iter(frame.items()))
        common: dict[str, Json] = {}
        if kind == "welcome":
            common = {
                "protocolVersion": 1,
                "leaseSeconds": 60,
                "heartbeatSeconds": 20,
                "streamSeconds": 3600,
                "session": {"name": session, "state": "SESSION_STATE_LABELING"},
            }
        elif kind == "assign":
            common = super().filled({"leaseExpireTime": "$in60"})
            query = item["query"]
            common |= {"session": session, "observationId": f"o{query}", "row": query - 1}
            self._leases.add(item["leaseId"])
        elif kind == "finished":
            common = {"session": {"name": session, "state": "SESSION_STATE_ESTIMATING"}}
        elif kind in ("progress", "revoke", "ack", "reject"):
            common = {"session": {"name": session} if kind == "progress" else session}
        return {kind: {**common, **item}}

    async def overhear(self, stream: Stream, frame: dict[str, Json]) -> bool:
        """Acknowledge an Extend; any other frame is wrong."""
        if "extend" not in frame:
            return False
        await self._extend(stream, frame)
        return True

    async def finish(self) -> str:
        """End the last stream; return what was wrong after the last step."""
        if self._stream is not None:
            self._stream.end()
        if not self._server.streams.empty():
            return "the client opened another stream after the last step"
        return ""

    # Steps

    async def step_accept(self, pattern: Json, step: Step) -> None:
        """Wait for the next stream and its first frame."""
        deadline = time.monotonic() + step.get("within_seconds", self.patience_s)
        if self._stream is not None:
            self._stream.end()
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                self._stream = await self._server.streams.get()
        except TimeoutError:
            raise Failure("the client opened no stream in time") from None
        apart_s = time.monotonic() - self._ended_at
        if apart_s < step.get("after_seconds", 0):
            raise Failure(f"the client connected again after {apart_s:.2f} s")
        frame = await self.hear(self._stream, deadline, [pattern])
        captured = match(pattern, frame, self.variables)
        if captured is None:
            raise Failure(f"got {frame}")
        self.variables |= captured

    async def step_expect_extend(self, leases: list[str], step: Step) -> None:
        """Wait until leases have been extended."""
        stream = self.stream(step)
        deadline = time.monotonic() + step.get("within_seconds", self.patience_s)
        missing = set(leases)
        while missing:
            frame = await self.hear(stream, deadline, [{"extend": {"leaseIds": sorted(missing)}}])
            if "extend" in frame:
                missing -= set(frame["extend"]["leaseIds"] or missing)
                await self._extend(stream, frame)
            else:
                await self.unexpected(stream, frame, leases)

    async def step_ack(self, further: Json, step: Step) -> None:
        """Acknowledge an item."""
        frame = self.kept(step)
        (kind,) = (key for key in frame if key in _ITEMS)
        counts = {"inlier": 1, "outlier": 1, "total": 2}
        ack: dict[str, Json] = {"disposition": "DISPOSITION_APPLIED", "counts": counts}
        if kind in ("answer", "retract"):
            ack["eventId"] = "1-0"
        ack |= _reference(frame) | further
        await self.send(self.stream(step), self.filled({"ack": ack}))

    async def step_reject(self, short: Json, step: Step) -> None:
        """Refuse an item."""
        status = to_json(status_of(short))
        reject = _reference(self.kept(step)) | {"status": status}
        await self.send(self.stream(step), self.filled({"reject": reject}))

    async def step_lose(self, leases: list[str], step: Step) -> None:
        """Treat leases as lost."""
        self._lost |= set(leases)

    async def step_cut(self, _: Json, step: Step) -> None:
        """Reset the connection."""
        self._over(None)
        self._server.relay.cut()

    async def step_end(self, _: Json, step: Step) -> None:
        """End the stream with OK."""
        self._over(None)

    async def step_fail(self, short: Json, step: Step) -> None:
        """End the stream with a status."""
        self._over(status_of(short))

    async def step_down(self, seconds: float, step: Step) -> None:
        """Refuse connections for a while."""
        self._over(None)
        self._server.relay.close()
        self._server.relay.cut()
        await asyncio.sleep(seconds)
        await self._server.relay.listen()

    async def step_expect_end(self, how: Json, step: Step) -> None:
        """Wait until the client ends the dialogue."""
        stream = self.stream(step)
        deadline = time.monotonic() + step.get("within_seconds", self.patience_s)
        while not isinstance(frame := await self.next(stream, deadline, "the end"), Ended):
            if "bye" in frame:
                if not how.get("bye", True):
                    raise Failure("the client said Bye, which gives its leases back")
                break
            await self.unexpected(stream, frame, "the end")
        self._over(None)

    # What steps are made of

    def _over(self, status: status_pb2.Status | None) -> None:
        assert self._stream is not None
        self.transcript.append(f"{self._stream.label} is ended by the script")
        self._ended_at = time.monotonic()
        self._stream.end(status)

    async def _extend(self, stream: Stream, frame: dict[str, Json]) -> None:
        named = set(frame["extend"]["leaseIds"])
        kept = (named & self._leases if named else self._leases) - self._lost
        ack = {
            "requestId": frame["requestId"],
            "session": frame["extend"]["session"],
            "lostLeaseIds": sorted(named - kept),
            "extended": [{"leaseId": lease, "expireTime": "$in60"} for lease in sorted(kept)],
        }
        await self.send(stream, self.filled({"ack": ack}))


def _reference(frame: dict[str, Json]) -> dict[str, Json]:
    """What an Ack or a Reject says about the item that it is for."""
    (kind,) = (key for key in frame if key in _ITEMS)
    item = frame[kind]
    named = {key: item[key] for key in ("answerId", "query") if key in item}
    return {"requestId": frame["requestId"], **named}
