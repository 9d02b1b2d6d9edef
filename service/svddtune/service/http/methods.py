"""The methods of the servicers, as the gRPC server is given them, and the context of a call."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc import status_pb2

# Where gRPC carries the google.rpc.Status of an error.
STATUS_KEY = "grpc-status-details-bin"

Write = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its description in the .proto files, and the code that serves it."""

    descriptor: MethodDescriptor
    handler: "grpc.RpcMethodHandler[Any, Any]"

    async def call(self, request: Any, context: "HttpContext") -> Any:
        """Call the servicer: the response, or None after a stream of them."""
        handler = self.handler
        takes = "stream" if handler.request_streaming else "unary"
        gives = "stream" if handler.response_streaming else "unary"
        return await getattr(handler, f"{takes}_{gives}")(request, context)


class Methods:
    """Stands beside the gRPC server where servicers are added, and collects their methods."""

    def __init__(self) -> None:
        self._methods: list[Method] = []

    def __iter__(self) -> Iterator[Method]:
        return iter(self._methods)

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        """Take no notice: the handlers come a second time, by name."""

    def add_registered_method_handlers(
        self, service: str, handlers: "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"
    ) -> None:
        """Collect the methods of a service."""
        described = descriptor_pool.Default().FindServiceByName(service)
        self._methods += [
            Method(described.methods_by_name[name], handler) for name, handler in handlers.items()
        ]


class Aborted(grpc.aio.AbortError):
    """A servicer has ended its call with an error."""

    def __init__(self, status: status_pb2.Status) -> None:
        super().__init__()
        self.status = status


class HttpContext:
    """What servicers ask of the context of a call, for a call over HTTP."""

    def __init__(
        self,
        metadata: Sequence[tuple[str, str]],
        peer: str,
        write: Write | None = None,
        certificate: bytes = b"",
    ) -> None:
        self._certificate = certificate
        self._metadata = tuple(metadata)
        self._peer = peer
        self._write = write
        # The client has gone.
        self.gone = False

    async def abort(
        self,
        code: grpc.StatusCode,
        details: str = "",
        trailing_metadata: Iterable[tuple[str, str | bytes]] = (),
    ) -> NoReturn:
        """End the call with an error."""
        for key, value in trailing_metadata:
            if key == STATUS_KEY and isinstance(value, bytes):
                raise Aborted(status_pb2.Status.FromString(value))
        raise Aborted(status_pb2.Status(code=code.value[0], message=details))

    async def write(self, message: Message) -> None:
        """Send one message of a stream."""
        if self._write is None:
            raise TypeError("this call answers with one message")
        await self._write(message)

    def done(self) -> bool:
        """Whether nobody waits for the response any more."""
        return self.gone

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """The headers of the request; names are in lower case."""
        return self._metadata

    def auth_context(self) -> dict[str, list[bytes]]:
        """What the connection shows of its client: its certificate, as gRPC's contexts do."""
        return {"x509_pem_cert": [self._certificate]} if self._certificate else {}

    def peer(self) -> str:
        """The client's address."""
        return self._peer
