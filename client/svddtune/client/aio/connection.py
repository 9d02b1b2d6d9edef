"""The connection of a client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import grpc
import grpc.aio

from svddtune.client.errors import WrongState
from svddtune.client.wire.access import Access
from svddtune.client.wire.calls import Call
from svddtune.client.wire.channel import open_async_channel, open_channel
from svddtune.client.wire.status import from_rpc_error
from svddtune.v1 import (
    dataset_pb2_grpc,
    oracle_pb2_grpc,
    scoring_pb2_grpc,
    server_pb2_grpc,
    tuning_pb2_grpc,
)

_T = TypeVar("_T")


class AsyncConnection:
    """A channel with its stubs for one event loop; the counterpart of `Connection`."""

    def __init__(
        self,
        address: str,
        access: Access,
        *,
        timeout_s: float,
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._channel = open_async_channel(address, access)
        # The stubs are typed for blocking calls only.
        channel: Any = self._channel
        self.oracle: Any = oracle_pb2_grpc.OracleServiceStub(channel)
        self._tuning: Any = tuning_pb2_grpc.TuningServiceStub(channel)
        self._stubs: dict[str, Any] = {
            "datasets": dataset_pb2_grpc.DatasetServiceStub(channel),
            "oracle": self.oracle,
            "scoring": scoring_pb2_grpc.ScoringServiceStub(channel),
            "server": server_pb2_grpc.ServerServiceStub(channel),
            "tuning": self._tuning,
        }
        self._open_blocking = partial(open_channel, address, access)
        self._blocking_channel: grpc.Channel | None = None

    def blocking_channel(self) -> grpc.Channel:
        """Return a channel for calls from threads; it is closed with this connection."""
        if self._blocking_channel is None:
            self._blocking_channel = self._open_blocking()
        return self._blocking_channel

    async def close(self) -> None:
        """Close the channel and whatever is open on it."""
        await self._channel.close(None)
        if self._blocking_channel is not None:
            self._blocking_channel.close()

    async def do(self, call: Call[_T], *, timeout_s: float | None = None) -> _T:
        """Make a unary call; return its parsed reply."""
        method = getattr(self._stubs[call.service], call.method)
        with self._translated_errors():
            reply = await method(call.request, timeout=timeout_s or self.timeout_s)
        return call.parse(reply)

    async def stream(
        self, method: str, request: Any, *, timeout_s: float
    ) -> AsyncGenerator[Any, None]:
        """Yield the messages of a stream of the tuning service; close the generator to end it."""
        with self._translated_errors():
            call = getattr(self._tuning, method)(request, timeout=timeout_s)
            try:
                async for message in call:
                    yield message
            finally:
                call.cancel()

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    @contextmanager
    def _translated_errors(self) -> Generator[None, None, None]:
        try:
            yield
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None
        except grpc.aio.UsageError as error:  # grpc's way of saying that the channel is closed
            raise WrongState(str(error), reason="CLIENT_CLOSED") from None
