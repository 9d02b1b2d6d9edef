"""Watch a session, wait for its result, and fetch its model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from svddtune.client.aio.connection import AsyncConnection
from svddtune.client.errors import Unavailable
from svddtune.client.model import SvddModel
from svddtune.client.types import Session, SessionUpdate
from svddtune.client.wire import calls
from svddtune.client.wire.download import model_from_stream
from svddtune.client.wire.watch import Watch


async def watch_session(
    connection: AsyncConnection, name: str, *, timeout_s: float | None
) -> AsyncGenerator[SessionUpdate, None]:
    """Yield the session now and after every change, over as many streams as that takes."""
    watch = Watch(name, timeout_s=timeout_s)
    while True:
        stream = connection.stream("WatchSession", watch.request(), timeout_s=watch.stream_s())
        try:
            async with aclosing(stream) as messages:
                async for message in messages:
                    update = watch.heard(message)
                    yield update
                    if update.session.state.ended:
                        return
        except Unavailable as error:
            watch.failed(error)
        await connection.pause(watch.pause_s())


async def wait_until_completed(
    connection: AsyncConnection,
    name: str,
    *,
    timeout_s: float | None,
    on_update: Callable[[Session], None] | None = None,
) -> Session:
    """Return the session once its result is there."""
    async with aclosing(watch_session(connection, name, timeout_s=timeout_s)) as updates:
        async for update in updates:
            if on_update is not None:
                on_update(update.session)
            if update.session.state.ended:
                return calls.completed(update.session)
    raise AssertionError("unreachable")


async def fetch_model(
    connection: AsyncConnection, session: str | Session, revision: int | None
) -> SvddModel:
    """Return the verified model of a result; raise ModelCorrupt where a part is missing."""
    stream = connection.stream(
        "ExportModel", calls.export_model(session, revision), timeout_s=connection.timeout_s
    )
    async with aclosing(stream) as messages:
        return model_from_stream([message async for message in messages])
