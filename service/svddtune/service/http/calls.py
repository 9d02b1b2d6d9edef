"""What every call over HTTP needs: its body, its context, and an end when its client leaves."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from google.protobuf.message import Message
from google.rpc import status_pb2
from starlette.requests import ClientDisconnect, Request

from svddtune.service.http.admission import certificate_of, peer_of
from svddtune.service.http.methods import Aborted, HttpContext, Method, Write
from svddtune.service.http.streams import Lines
from svddtune.service.silence import Silent
from svddtune.service.status import internal, status_proto
from svddtune.service.validate import LARGEST_MESSAGE
from svddtune.state.errors import InvalidInput, StateError, TooLarge

# Seconds in which the body of a unary call must arrive.
BODY_S = 30.0

Result = TypeVar("Result")


async def stream(
    method: Method, given: Message, request: Request, out: Lines, *, errors_first: bool
) -> None:
    """Send what a call streams.

    An error before the first message is raised if ``errors_first``; else it is in the stream.
    """
    context = context_of(request, out.send)
    keeper = asyncio.create_task(out.keep())
    try:
        await while_connected(method.call(given, context), request, context)
    except ClientDisconnect:
        raise
    except Exception as error:
        if errors_first and not out.begun:
            raise
        await out.fail(status_of(error, request))
    finally:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
    await out.end()


def context_of(request: Request, write: Write | None = None) -> HttpContext:
    """The context of a call; ``write`` sends one message of a stream."""
    return HttpContext(request.headers.items(), peer_of(request), write, certificate_of(request))


def status_of(error: Exception, request: Request) -> status_pb2.Status:
    """The status that a call ends with; a fault of ours is logged. Call it in the handler."""
    if isinstance(error, Aborted):
        return error.status
    if isinstance(error, StateError):
        return status_proto(error)
    return status_proto(internal(request.url.path))


async def body_of(request: Request) -> bytes:
    """The body. Raises Silent (``BODY_TIMEOUT``), TooLarge, ClientDisconnect."""
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_S):
            async for piece in request.stream():
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST_MESSAGE:
                    raise too_large()
    except TimeoutError:
        raise Silent("BODY_TIMEOUT", "complete body of the request", BODY_S) from None
    return b"".join(pieces)


def content_type(request: Request) -> str:
    """The type of a body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def check_type(request: Request, expected: str) -> None:
    """Raise InvalidInput (``UNSUPPORTED_CONTENT_TYPE``) for another type of body."""
    given = content_type(request)
    if given != expected:
        raise InvalidInput(
            "UNSUPPORTED_CONTENT_TYPE",
            f"The body must have Content-Type: {expected}.",
            content_type=given,
        )


def too_large() -> TooLarge:
    """The refusal of a message above the limit."""
    return TooLarge(
        "REQUEST_TOO_LARGE",
        f"A message of a request has at most {LARGEST_MESSAGE} bytes.",
        limit=LARGEST_MESSAGE,
    )


async def while_connected(
    call: Coroutine[Any, Any, Result], request: Request, context: HttpContext
) -> Result:
    """What a call returns; it is cancelled when its client goes. Raises ClientDisconnect."""
    calling = asyncio.ensure_future(call)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({calling, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if calling.done():
            return calling.result()
        context.gone = True
        raise ClientDisconnect
    finally:
        for task in (calling, leaving):
            task.cancel()
        await asyncio.gather(calling, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    """Return when the client has closed its connection. The body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
