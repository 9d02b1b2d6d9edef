"""Requests that cannot be decoded: the call ends with a reason, and the log gets one line.

gRPC calls a method's deserializer itself. If that raises, a unary call ends with UNKNOWN and a
traceback, and a stream's iterator breaks in the task that reads it. Here deserializers never raise:
they return the error, and the call ends with it before its servicer sees the request.
"""

import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc

from svddtune.service.sparing import Sparing
from svddtune.service.status import Context, abort
from svddtune.state.errors import InvalidInput

log = logging.getLogger(__name__)

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behaviour = Callable[[Any, Context], Any]


@dataclass(frozen=True, slots=True)
class _Undecodable:
    """Takes the place of a request."""

    error: InvalidInput


class Decoding(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]
    """Wraps the handlers of all methods of the server."""

    def __init__(self) -> None:
        self._faults = Sparing(log, "undecodable message")
        # Handlers by method.
        self._wrapped: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """The wrapped handler of a method; None if there is no such method."""
        method = str(handler_call_details.method)
        handler = await continuation(handler_call_details)
        if handler and method not in self._wrapped:
            self._wrapped[method] = self._wrap(method, handler)
        return self._wrapped.get(method, handler)

    def _wrap(self, method: str, handler: Handler) -> Handler:
        shape = ("stream" if handler.request_streaming else "unary") + (
            "_stream" if handler.response_streaming else "_unary"
        )
        make = getattr(grpc, f"{shape}_rpc_method_handler")
        wrapped: Handler = make(
            _guarded(getattr(handler, shape), streams=handler.request_streaming),
            request_deserializer=self._tolerant(method, handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )
        return wrapped

    def _tolerant(
        self, method: str, decode: Callable[[bytes], Any] | None
    ) -> Callable[[bytes], Any] | None:
        if decode is None:
            return None

        def decoded(data: bytes) -> Any:
            try:
                return decode(data)
            # (protobuf does not document which exceptions its runtimes raise.)
            except Exception as error:
                self._faults.note(method=method, size=len(data))
                return _Undecodable(_undecodable(method, data, error))

        return decoded


def _undecodable(method: str, data: bytes, error: Exception) -> InvalidInput:
    return InvalidInput(
        "UNDECODABLE_MESSAGE",
        f"A message of {len(data)} bytes to {method} cannot be decoded as its request type "
        f"({type(error).__name__}). Encode it as the .proto file describes; text must be UTF-8.",
        method=method,
        size=len(data),
    )


async def _decodable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        if isinstance(request, _Undecodable):
            raise request.error
        yield request


def _guarded(behave: Behaviour, *, streams: bool) -> Behaviour:
    """A method that is called with decoded requests only."""

    async def given(request: Any, context: Context) -> Any:
        if isinstance(request, _Undecodable):
            await abort(context, request.error)
        return _decodable(request) if streams else request

    async def answered(request: Any, context: Context) -> Any:
        try:
            return await behave(await given(request, context), context)
        except InvalidInput as error:
            return await abort(context, error)

    async def streamed(request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            async for response in behave(await given(request, context), context):
                yield response
        except InvalidInput as error:
            await abort(context, error)

    return streamed if inspect.isasyncgenfunction(behave) else answered
