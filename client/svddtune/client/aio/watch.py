"""A session watched until it ends, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from svddtune.client.errors import from_rpc_error
from svddtune.client.types import SessionUpdate
from svddtune.client.wire.watch import Watch


async def watch_session(
    stub: Any, name: str, address: str, *, timeout_s: float | None = None
) -> AsyncIterator[SessionUpdate]:
    """Yield the session now and after every change, until it ends or `timeout_s` is over."""
    watch = Watch(name, timeout_s=timeout_s)
    while True:
        call = stub.WatchSession(watch.request(), timeout=watch.stream_s())
        try:
            async for message in call:
                update = watch.heard(message)
                yield update
                if update.session.state.ended:
                    return
        except grpc.RpcError as failure:
            watch.failed(from_rpc_error(failure, address))
        finally:
            call.cancel()
        await asyncio.sleep(watch.pause_s())
