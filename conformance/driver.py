"""Plays the client's side of a script against a server."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import grpc
import numpy as np
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.message import Message
from google.rpc import status_pb2

from conformance.frames import Json, match, short_of, to_json
from conformance.player import PATIENCE_S, Ended, Player, Step, Stream, brief
from conformance.script import Failure, Outcome, Script
from svddtune.client import AsyncTuningClient, SessionState
from svddtune.config import SessionConfig
from svddtune.v1 import oracle_pb2

LABELER = "conformance"
# 12 observations in two groups, and two that are apart.
_ROWS = np.array([[i / 10, i % 3] for i in range(10)] + [[9.0, 9.0], [-7.0, 5.0]])


@dataclass
class ClientStream(Stream):
    """A stream that the driver has opened."""

    call: Any = None

    async def send(self, frame: bytes) -> None:
        """Send a frame, if the stream still takes it."""
        with suppress(asyncio.InvalidStateError, grpc.RpcError):
            await self.call.write(frame)


class ClientPlayer(Player):
    """Plays a script to a server.

    Parameters
    ----------
    script : Script
        The script.
    channel : grpc.aio.Channel
        A channel to the server.
    session : str
        Name of a session that is ready to ask.
    patience_s : float
        How long to wait for a frame, in seconds.
    """

    def __init__(
        self, script: Script, channel: grpc.aio.Channel, session: str, *, patience_s: float
    ) -> None:
        super().__init__(
            script,
            {"$session": session, "$labeler": LABELER},
            sends=oracle_pb2.ConverseRequest,
            hears=oracle_pb2.ConverseResponse,
            patience_s=patience_s,
        )
        self._channel = channel
        self._streams: dict[str, ClientStream] = {}
        self._readers: list[asyncio.Task[None]] = []

    def stream(self, step: Step) -> ClientStream:
        """Return the stream that a step names with ``on``, by default the one without a name."""
        return self._streams[step.get("on", "")]

    async def overhear(self, stream: Stream, frame: dict[str, Json]) -> bool:
        """Pass over Progress; any other frame is wrong."""
        return "progress" in frame

    async def finish(self) -> None:
        """Break all streams off."""
        for stream in self._streams.values():
            stream.call.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)

    # Steps

    async def step_open(self, hello: Json, step: Step) -> None:
        """Open a stream with its first frame."""
        name = step.get("as", "")
        channel: Any = self._channel
        converse = channel.stream_stream("/svddtune.v1.OracleService/Converse")
        stream = ClientStream(f"stream {len(self._readers) + 1} {name}".rstrip() + ":")
        stream.call = converse()
        self._streams[name] = stream
        self._readers.append(asyncio.create_task(_read(stream)))
        await self.send(stream, self.filled(hello))

    async def step_cut(self, _: Json, step: Step) -> None:
        """Break the stream off."""
        stream = self.stream(step)
        stream.call.cancel()
        while not isinstance(await stream.inbox.get(), Ended):
            pass

    async def step_end(self, _: Json, step: Step) -> None:
        """Close this side of the stream."""
        await self.stream(step).call.done_writing()

    async def step_expect_end(self, _: Json, step: Step) -> None:
        """Wait until the server ends the stream with OK."""
        status = (await self._end(step)).status
        if status is None or status.code != 0:
            raise Failure(f"the stream ended with {status}")

    async def step_expect_status(self, short: Json, step: Step) -> None:
        """Wait until the server ends the stream with a status."""
        status = (await self._end(step)).status
        assert status is not None
        if match(short, short_of(status), self.variables) is None:
            raise Failure(f"the stream ended with {short_of(status)}")

    async def step_call(self, method: str, step: Step) -> None:
        """Make a unary call, and compare its response or its status."""
        service, _, name = method.partition("/")
        pool = descriptor_pool.Default()
        described = pool.FindServiceByName(f"svddtune.v1.{service}").methods_by_name[name]
        request = json_format.ParseDict(
            self.filled(step.get("request", {})), _message(described.input_type.full_name)
        )
        response = _message(described.output_type.full_name)
        channel: Any = self._channel
        unary = channel.unary_unary(f"/svddtune.v1.{service}/{name}")
        self.transcript.append(f"called {method} {to_json(request)}")
        try:
            response.ParseFromString(
                await unary(request.SerializeToString(), timeout=self.patience_s)
            )
            came, expected = to_json(response), step.get("response", {})
            wrong = "status" in step
        except grpc.aio.AioRpcError as error:
            came, expected = short_of(_status(error)), step.get("status", {})
            wrong = "status" not in step
        self.transcript.append(f"got {brief(came)}")
        captured = None if wrong else match(expected, came, self.variables)
        if captured is None:
            raise Failure(f"the call gave {brief(came)}")
        self.variables |= captured

    async def _end(self, step: Step) -> Ended:
        stream = self.stream(step)
        deadline = time.monotonic() + step.get("within_seconds", self.patience_s)
        while not isinstance(frame := await self.next(stream, deadline, "the end"), Ended):
            await self.unexpected(stream, frame, "the end")
        return frame


async def play_to_server(
    address: str, script: Script, *, patience_s: float = PATIENCE_S
) -> Outcome:
    """Play one script to a server, in a session of its own.

    Parameters
    ----------
    address : str
        HOST:PORT of the server, which must have a worker.
    script : Script
        The script.
    patience_s : float
        How long to wait for a frame, in seconds.
    """
    began = time.monotonic()
    outcome = Outcome(script.name, script.summary)
    session = await _new_session(address, script)
    async with grpc.aio.insecure_channel(address) as channel:
        player = ClientPlayer(script, channel, session, patience_s=patience_s)
        try:
            outcome.failure = await player.play()
        finally:
            await player.finish()
    outcome.transcript = player.transcript
    outcome.seconds = time.monotonic() - began
    return outcome


async def _new_session(address: str, script: Script) -> str:
    """Create a session and wait until it is ready to ask."""
    async with AsyncTuningClient(address) as client:
        dataset = await client.upload_dataset(_ROWS, scaling="none")
        session = await client.create_session(dataset, SessionConfig(**script.session))
        async for update in client.watch(session):
            if update.session.state is SessionState.LABELING:
                break
        return session.name


async def _read(stream: ClientStream) -> None:
    try:
        async for response in stream.call:
            stream.inbox.put_nowait(response)
        stream.inbox.put_nowait(Ended(status_pb2.Status()))
    except grpc.aio.AioRpcError as error:
        stream.inbox.put_nowait(Ended(_status(error)))
    except asyncio.CancelledError:
        stream.inbox.put_nowait(Ended())


def _status(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """Return the status of a failed call."""
    trailer: Any = error.trailing_metadata()
    for key, value in trailer or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            return status_pb2.Status.FromString(value)
    return status_pb2.Status(code=error.code().value[0], message=error.details() or "")


def _message(name: str) -> Message:
    kind = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))
    return kind()
