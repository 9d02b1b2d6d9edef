"""The forms in which messages are streamed to a client."""

import asyncio
import json
from http import HTTPStatus

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import status_pb2
from starlette.types import Send

from svddtune.service.http.errors import error_json

JSON, LINES, EVENTS = "application/json", "application/x-ndjson", "text/event-stream"
# Larger messages become JSON, or are made of it, on another thread than that of all calls.
LARGE_BYTES = 1 << 16
# Seconds after which a stream begins without a message.
_SILENCE_S = 1.0
# Seconds between comments that keep an idle stream of events open on its way through proxies.
_KEEP_ALIVE_S = 15.0


class Lines:
    """A stream of lines of JSON."""

    media_type = LINES

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def keep(self) -> None:
        """Let the client know soon that its request is accepted, also before the first message."""
        await asyncio.sleep(_SILENCE_S)
        await self.begin()

    async def send(self, message: Message) -> None:
        """Send one message."""
        await self.begin()
        await self.write(b'{"result":' + await as_json(message) + b"}\n")

    async def fail(self, status: status_pb2.Status) -> None:
        """Send the error that ends the stream."""
        await self.write(json.dumps(error_json(status)).encode() + b"\n")

    async def end(self) -> None:
        """End the response."""
        await self.begin()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def begin(self, status: HTTPStatus = HTTPStatus.OK) -> None:
        """Send the head of the response, once."""
        if not self.begun:
            self.begun = True
            headers = [(b"content-type", self.media_type.encode()), (b"cache-control", b"no-store")]
            await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, body: bytes) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


class Events(Lines):
    """A stream of server-sent events, which browsers resume by themselves."""

    media_type = EVENTS

    async def keep(self) -> None:
        """Begin soon, then send a comment now and then."""
        await super().keep()
        while True:
            await asyncio.sleep(_KEEP_ALIVE_S)
            await self.write(b":\n\n")

    async def send(self, message: Message) -> None:
        """Send one message, with its resume token as the id."""
        await self.begin()
        token = getattr(message, "resume_token", "")
        head = f"id: {token}\n".encode() if token else b""
        await self.write(head + b"data: " + await as_json(message) + b"\n\n")

    async def fail(self, status: status_pb2.Status) -> None:
        """Send the error as an event of its own kind; the client then connects again."""
        await self.write(b"event: failure\ndata: " + json.dumps(error_json(status)).encode())
        await self.write(b"\n\n")

    async def end(self) -> None:
        """End the response; one without an event tells the browser not to connect again."""
        await self.begin(HTTPStatus.NO_CONTENT)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def as_json(message: Message) -> bytes:
    """A message as proto JSON on one line."""
    if message.ByteSize() < LARGE_BYTES:
        return _json(message)
    return await asyncio.to_thread(_json, message)


def _json(message: Message) -> bytes:
    """Proto JSON on one line. What cannot be absent is there, also if it is 0, false or empty."""
    text = json_format.MessageToJson(
        message, indent=None, ensure_ascii=False, always_print_fields_with_no_presence=True
    )
    return text.encode()
