"""The dialogue by unary calls for asyncio: the blocking one, in threads, as an asyncio stream."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator

import grpc

from svddtune.client.dialogue.unary import UnaryConverse
from svddtune.v1 import oracle_pb2 as pb


class AsyncUnaryConverse:
    """Replaces ``Converse`` of ``grpc.aio``; makes unary calls over a blocking channel."""

    def __init__(self, channel: grpc.Channel, *, timeout_s: float) -> None:
        self._converse = UnaryConverse(channel, timeout_s=timeout_s)

    def __call__(self, timeout: float | None = None) -> AsyncUnaryDialogue:
        """Begin a dialogue; `timeout`, the limit of a stream, does not apply to it."""
        return AsyncUnaryDialogue(self._converse)


class AsyncUnaryDialogue:
    """One dialogue: write requests, iterate over responses."""

    def __init__(self, converse: UnaryConverse) -> None:
        self._requests: queue.SimpleQueue[pb.ConverseRequest | None] = queue.SimpleQueue()
        self._dialogue = converse(iter(self._requests.get, None))

    async def write(self, request: pb.ConverseRequest) -> None:
        """Send a request."""
        self._requests.put(request)

    async def done_writing(self) -> None:
        """Tell the dialogue that no request follows."""
        self._requests.put(None)

    def cancel(self) -> None:
        """End the dialogue now; leases stay until they expire."""
        self._dialogue.cancel()
        self._requests.put(None)

    async def __aiter__(self) -> AsyncIterator[pb.ConverseResponse]:
        responses = iter(self._dialogue)
        while (response := await asyncio.to_thread(next, responses, None)) is not None:
            yield response
