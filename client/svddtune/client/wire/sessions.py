# Generated from client/svddtune/client/aio/sessions.py by tools/generate_sync.py.
"""Watch a session, wait for its result, and fetch its model."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing

from svddtune.client.errors import Unavailable
from svddtune.client.model import SvddModel
from svddtune.client.types import Session, SessionUpdate
from svddtune.client.wire import calls
from svddtune.client.wire.connection import Connection
from svddtune.client.wire.download import model_from_stream
from svddtune.client.wire.watch import Watch


def watch_session(
    connection: Connection, name: str, *, timeout_s: float | None
) -> Generator[SessionUpdate, None, None]:
    """Yield the session now and after every change, over as many streams as that takes."""
    watch = Watch(name, timeout_s=timeout_s)
    while True:
        stream = connection.stream("WatchSession", watch.request(), timeout_s=watch.stream_s())
        try:
            with closing(stream) as messages:
                for message in messages:
                    update = watch.heard(message)
                    yield update
                    if update.session.state.ended:
                        return
        except Unavailable as error:
            watch.failed(error)
        connection.pause(watch.pause_s())


def wait_until_completed(
    connection: Connection,
    name: str,
    *,
    timeout_s: float | None,
    on_update: Callable[[Session], None] | None = None,
) -> Session:
    """Return the session once its result is there."""
    with closing(watch_session(connection, name, timeout_s=timeout_s)) as updates:
        for update in updates:
            if on_update is not None:
                on_update(update.session)
            if update.session.state.ended:
                return calls.completed(update.session)
    raise AssertionError("unreachable")


def fetch_model(connection: Connection, session: str | Session, revision: int | None) -> SvddModel:
    """Return the verified model of a result; raise ModelCorrupt where a part is missing."""
    stream = connection.stream(
        "ExportModel", calls.export_model(session, revision), timeout_s=connection.timeout_s
    )
    with closing(stream) as messages:
        return model_from_stream(list(messages))
