"""Calls by the Connect protocol, which clients that Connect generates speak, also in browsers.

A call is a POST to ``/package.Service/Method``. A unary one has the message as its body, as JSON or
in binary. One that streams to the client has envelopes: a byte of flags, the length in four bytes,
the message; the last one has the flag 2 and says how the call ended. The rules are at
https://connectrpc.com/docs/protocol. Browsers cannot make calls in which the client streams, so
those are not here.
"""

import asyncio
import json
import struct
from collections.abc import Iterable

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import status_pb2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from svddtune.service.http.calls import (
    body_of,
    content_type,
    context_of,
    status_of,
    stream,
    while_connected,
)
from svddtune.service.http.errors import challenge, connect_error
from svddtune.service.http.methods import Method
from svddtune.service.http.rules import undecodable
from svddtune.service.http.streams import LARGE_BYTES, Lines, as_json
from svddtune.state.errors import InvalidInput

_UNARY = {"application/json": "json", "application/proto": "proto"}
_STREAM = {"application/connect+json": "json", "application/connect+proto": "proto"}
_HEAD = struct.Struct(">BI")
_END = 2


class ConnectCalls:
    """An ASGI application: all methods whose requests are one message."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = {
            f"/{one.descriptor.containing_service.full_name}/{one.descriptor.name}": one
            for one in methods
            if not one.descriptor.client_streaming
        }

    def knows(self, request: Request) -> bool:
        """Whether the path of a request names a method."""
        return request.url.path in self._methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request whose path names a method."""
        request = Request(scope, receive)
        method = self._methods[request.url.path]
        kinds = _STREAM if method.descriptor.server_streaming else _UNARY
        kind = kinds.get(content_type(request))
        if request.method != "POST" or kind is None:
            # As the protocol has it; a client then tries nothing else.
            headers = {"Allow": "POST", "Accept-Post": ", ".join(kinds)}
            response = Response(None, 415 if request.method == "POST" else 405, headers)
            await response(scope, receive, send)
            return
        try:
            if method.descriptor.server_streaming:
                await self._stream(method, kind, request, send)
            else:
                await (await self._answered(method, kind, request))(scope, receive, send)
        except ClientDisconnect:
            return

    async def _answered(self, method: Method, kind: str, request: Request) -> Response:
        context = context_of(request)
        try:
            _check_encoding(request, "content-encoding")
            given = await _decoded(method, kind, await body_of(request))
            response = await while_connected(method.call(given, context), request, context)
        except ClientDisconnect:
            raise
        except Exception as error:
            failed = status_of(error, request)
            status, content = connect_error(failed)
            return JSONResponse(content, status, challenge(failed))
        return Response(await _encoded(response, kind), media_type=f"application/{kind}")

    async def _stream(self, method: Method, kind: str, request: Request, send: Send) -> None:
        out = _Envelopes(send, kind)
        try:
            _check_encoding(request, "connect-content-encoding")
            given = await _decoded(method, kind, _opened(method, await body_of(request)))
        except ClientDisconnect:
            raise
        except Exception as error:
            await out.fail(status_of(error, request))
            await out.end()
            return
        await stream(method, given, request, out, errors_first=False)


class _Envelopes(Lines):
    """A stream of envelopes, of which the last one says how the call ended."""

    def __init__(self, send: Send, kind: str) -> None:
        super().__init__(send)
        self.media_type = f"application/connect+{kind}"
        self._kind = kind
        self._last = b"{}"

    async def send(self, message: Message) -> None:
        """Send one message."""
        await self.begin()
        data = await _encoded(message, self._kind)
        await self.write(_HEAD.pack(0, len(data)) + data)

    async def fail(self, status: status_pb2.Status) -> None:
        """Say at the end that the call failed."""
        _, error = connect_error(status)
        self._last = json.dumps({"error": error}).encode()

    async def end(self) -> None:
        """End the response."""
        await self.begin()
        await self.write(_HEAD.pack(_END, len(self._last)) + self._last)
        await super().end()


def _check_encoding(request: Request, header: str) -> None:
    encoding = request.headers.get(header, "identity")
    if encoding != "identity":
        raise InvalidInput(
            "UNSUPPORTED_CONTENT_TYPE",
            f"Requests must not be compressed ({header}: {encoding}).",
            content_encoding=encoding,
        )


def _opened(method: Method, body: bytes) -> bytes:
    """The message in the only envelope of a body. Raises InvalidInput."""
    flags, length = _HEAD.unpack_from(body) if len(body) >= _HEAD.size else (0, -1)
    if flags or length != len(body) - _HEAD.size:
        error = json_format.ParseError("it must be one envelope without flags")
        raise undecodable(method.descriptor, error)
    return body[_HEAD.size :]


async def _decoded(method: Method, kind: str, body: bytes) -> Message:
    def decode() -> Message:
        request: Message = GetMessageClass(method.descriptor.input_type)()
        try:
            if kind == "proto":
                request.MergeFromString(body)
            else:
                # (A client of a later version may send fields that are new.)
                json_format.Parse(body or b"{}", request, ignore_unknown_fields=True)
        # (protobuf does not document which exceptions its runtimes raise.)
        except Exception as error:
            raise undecodable(method.descriptor, error) from error
        return request

    return decode() if len(body) < LARGE_BYTES else await asyncio.to_thread(decode)


async def _encoded(message: Message, kind: str) -> bytes:
    return message.SerializeToString() if kind == "proto" else await as_json(message)
