# Generated from client/svddtune/client/aio/sessions.py by tools/generate_sync.py.
"""Watch a session, label many rows of it, wait for its result, and fetch its model."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from svddtune.client.errors import Unauthenticated, Unavailable
from svddtune.client.model import SvddModel
from svddtune.client.types import BatchOutcome, RefusedLabel, Session, SessionUpdate
from svddtune.client.wire import calls
from svddtune.client.wire.backoff import Backoff
from svddtune.client.wire.connection import Connection
from svddtune.client.wire.download import model_from_stream
from svddtune.client.wire.watch import Watch
from svddtune.v1 import oracle_pb2 as opb

# Answers of one call: the service's limit.
_BATCH = 1000
# How long a batch is sent again while the service is away.
_AGAIN_FOR_S = 600.0


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
        except (Unavailable, Unauthenticated) as error:
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


def answer_all(
    connection: Connection, session: str, labeler: str, answers: Sequence[opb.Answer]
) -> BatchOutcome:
    """Give unasked answers in batches; send a batch again while the service is away.

    An answer counts once however often it is sent. One ranking follows them all.
    """
    backoff, until = Backoff(), time.monotonic() + _AGAIN_FOR_S
    applied, refused, at = 0, list[RefusedLabel](), 0
    while True:
        batch = answers[at : at + _BATCH]
        more = at + _BATCH < len(answers)
        try:
            outcome = connection.do(calls.answer_batch(session, labeler, batch, more=more))
        except Unavailable as error:
            if time.monotonic() > until:
                raise
            connection.pause(backoff.next_s(error.retry_after_s))
            continue
        backoff, until = Backoff(), time.monotonic() + _AGAIN_FOR_S
        applied, at = applied + outcome.applied, at + _BATCH
        refused += outcome.refused
        if not more:
            return BatchOutcome(applied, outcome.counts, tuple(refused))


def fetch_model(connection: Connection, session: str | Session, revision: int | None) -> SvddModel:
    """Return the verified model of a result; raise ModelCorrupt where a part is missing."""
    stream = connection.stream(
        "ExportModel", calls.export_model(session, revision), timeout_s=connection.timeout_s
    )
    with closing(stream) as messages:
        return model_from_stream(list(messages))
