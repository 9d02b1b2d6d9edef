"""Calls over HTTP: finds the rule of a request, calls its method, and writes what comes back.

A unary call answers with its response as a JSON object. A call that streams answers with a line
``{"result": ...}`` for each message, and with a line ``{"error": ...}`` at the end if it fails;
for a client that accepts ``text/event-stream``, with server-sent events, whose ids are resume
tokens. A call that takes a stream reads a message from each line of the body.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from svddtune.service.http.calls import (
    body_of,
    check_type,
    context_of,
    status_of,
    stream,
    too_large,
    while_connected,
)
from svddtune.service.http.connect import ConnectCalls
from svddtune.service.http.errors import error_response, refusal
from svddtune.service.http.methods import HttpContext, Method
from svddtune.service.http.rules import Rule, rules_of
from svddtune.service.http.streams import EVENTS, JSON, LARGE_BYTES, LINES, Events, Lines, as_json
from svddtune.service.validate import LARGEST_MESSAGE
from svddtune.state.errors import InvalidInput, NotFound, StateError


class Gateway:
    """An ASGI application: all methods with a ``google.api.http`` rule."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = {method.descriptor.full_name: method for method in methods}
        described = [method.descriptor for method in self._methods.values()]
        self._connect = ConnectCalls(self._methods.values())
        self._rules = [(rule.pattern, rule) for rule in rules_of(described)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        if self._connect.knows(request):
            await self._connect(scope, receive, send)
            return
        try:
            rule, values = self._found(request)
            if rule.method.server_streaming:
                await self._stream(rule, values, request, send)
                return
            response = await self._answered(rule, values, request)
        except ClientDisconnect:
            return
        except Exception as error:
            response = _failure(error, request)
        await response(scope, receive, send)

    def _found(self, request: Request) -> tuple[Rule, Sequence[str]]:
        """The rule of a request, and the values of the fields in its path."""
        path = request.scope.get("raw_path", b"").decode("latin-1")
        found = [(rule, match) for one, rule in self._rules if (match := one.fullmatch(path))]
        for rule, match in found:
            if rule.verb == request.method:
                return rule, match.groups()
        if not found:
            raise NotFound(
                "UNKNOWN_PATH", "There is nothing at this path; see /openapi.json.", path=path
            )
        verbs = ", ".join(sorted({rule.verb for rule, _ in found}))
        raise InvalidInput(
            "METHOD_NOT_ALLOWED",
            f"This path takes {verbs}.",
            path=path,
            method=request.method,
            allowed=verbs,
        )

    async def _answered(self, rule: Rule, values: Sequence[str], request: Request) -> Response:
        context = context_of(request)
        if rule.method.client_streaming:
            given: Any = _messages(rule, request, context)
            response = await self._methods[rule.method.full_name].call(given, context)
            if context.gone:
                raise ClientDisconnect
        else:
            given = await _request(rule, values, request)
            call = self._methods[rule.method.full_name].call(given, context)
            response = await while_connected(call, request, context)
        return Response(await as_json(response), media_type=JSON)

    async def _stream(
        self, rule: Rule, values: Sequence[str], request: Request, send: Send
    ) -> None:
        events = EVENTS in request.headers.get("accept", "")
        out = Events(send) if events else Lines(send)
        given = await _request(rule, values, request)
        token = request.headers.get("last-event-id")
        if token and "resume_token" in given.DESCRIPTOR.fields_by_name:
            json_format.ParseDict({"resume_token": token}, given)
        method = self._methods[rule.method.full_name]
        await stream(method, given, request, out, errors_first=True)


def _failure(error: Exception, request: Request) -> Response:
    if isinstance(error, StateError):
        return refusal(error)
    return error_response(status_of(error, request))


async def _request(rule: Rule, values: Sequence[str], request: Request) -> Message:
    """The request of a method that takes one. Raises InvalidInput, Refused, ClientDisconnect."""
    body = await body_of(request)
    if body:
        check_type(request, JSON)
    query = request.url.query
    if len(body) < LARGE_BYTES:
        return rule.request(values, query, body)
    return await asyncio.to_thread(rule.request, values, query, body)


async def _messages(rule: Rule, request: Request, context: HttpContext) -> AsyncIterator[Message]:
    """The messages of a body with one on each line."""
    check_type(request, LINES)
    try:
        async for line in _lines(request):
            if line.strip():
                yield await asyncio.to_thread(rule.request, (), "", line)
    except ClientDisconnect:
        context.gone = True
        raise


async def _lines(request: Request) -> AsyncIterator[bytes]:
    pieces: list[bytes] = []
    size = 0
    async for received in request.stream():
        *ends, rest = received.split(b"\n")
        for end in ends:
            yield b"".join((*pieces, end))
            pieces, size = [], 0
        pieces.append(rest)
        size += len(rest)
        if size > LARGEST_MESSAGE:
            raise too_large()
    yield b"".join(pieces)
