"""Posts the events of sessions to a URL: in order for each session, each at least once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import httpx

from svddtune.client.aio import AsyncTuningClient
from svddtune.client.aio.signal import Signal
from svddtune.client.errors import NotFound, Unavailable
from svddtune.client.types import Session
from svddtune.client.webhooks.events import is_waiting, news
from svddtune.client.webhooks.outbox import Message, Outbox, undelivered
from svddtune.client.webhooks.signature import signed_headers
from svddtune.client.wire.backoff import Backoff

log = logging.getLogger(__name__)

# Errors of the receiver that pass.
_TEMPORARY = frozenset({408, 425, 429})
_MOST_ASKED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where events are posted and how often.

    Attributes
    ----------
    url : str
        The receiver.
    secrets : sequence of bytes
        Keys of the signatures.
    attempts : int
        Attempts after which a message that the receiver refuses is given up; default 5. A receiver
        that is away, or fails, is tried for ever.
    first_s, most_s : float
        First and longest delay between attempts in seconds; default 1 and 300.
    waiting_s : float
        Seconds that a session waits for labelers before that is announced; default 10.
    interval_s : float
        Seconds between two looks for sessions that are new or go on; default 5.
    """

    url: str
    secrets: Sequence[bytes]
    attempts: int = 5
    first_s: float = 1.0
    most_s: float = 300.0
    waiting_s: float = 10.0
    interval_s: float = 5.0


class Sender:
    """Watches sessions and posts their events.

    Parameters
    ----------
    client : AsyncTuningClient
        The service.
    http : httpx.AsyncClient
        Posts the events.
    delivery : Delivery
        Where and how.
    folder : Path
        Keeps what is announced and what is not delivered. One sender at a time may use it.
    sessions : sequence of str
        Resource names; none for all sessions, later ones included.
    """

    def __init__(
        self,
        client: AsyncTuningClient,
        http: httpx.AsyncClient,
        delivery: Delivery,
        folder: Path,
        sessions: Sequence[str] = (),
    ) -> None:
        self._client = client
        self._http = http
        self._delivery = delivery
        self._folder = folder
        self._sessions = sessions
        # The sessions that are served, and the etags with which those that ended did.
        self._served: set[str] = set()
        self._ended: dict[str, str] = {}

    async def run(self) -> None:
        """Send until cancelled.

        Raises
        ------
        NotFound
            SESSION_NOT_FOUND for a session that was named and is not there at the start.
        """
        for name in self._sessions:
            await self._client.get_session(name)
        async with asyncio.TaskGroup() as group:
            for name in undelivered(self._folder):  # of sessions that are deleted by now, too
                self._start(group, name, None)
            while True:
                try:
                    async for session in self._listed():
                        if self._ended.get(session.name) != session.etag:
                            self._start(group, session.name, session)
                except Unavailable as error:
                    log.warning("The service is away: %s", error)
                await asyncio.sleep(self._delivery.interval_s)

    def _start(self, group: asyncio.TaskGroup, name: str, listed: Session | None) -> None:
        if name not in self._served:
            self._served.add(name)
            group.create_task(self._serve(name, listed))

    async def _listed(self) -> AsyncIterator[Session]:
        if not self._sessions:
            async for session in self._client.list_sessions():
                yield session
        for name in self._sessions:
            try:
                yield await self._client.get_session(name)
            except NotFound:
                continue  # deleted meanwhile

    async def _serve(self, name: str, listed: Session | None) -> None:
        """Announce a session until it ends and all its events are delivered."""
        box, added = Outbox.of(self._folder, name), Signal()
        try:
            async with asyncio.TaskGroup() as group:
                posting = group.create_task(self._post_all(box, added))
                if listed is not None and listed.state.ended:
                    self._announce(listed, box, added, waited=False)
                    last: Session | None = listed
                else:
                    last = await self._watch(name, box, added, group)
                while box.pending:
                    await added.wait()
                posting.cancel()
            if last is not None:
                self._ended[name] = last.etag
        finally:
            self._served.discard(name)

    def _announce(self, session: Session, box: Outbox, added: Signal, *, waited: bool) -> None:
        box.add(*news(session, box.announced, waited=waited))
        added.notify()

    async def _watch(
        self, name: str, box: Outbox, added: Signal, group: asyncio.TaskGroup
    ) -> Session | None:
        """Announce a session until it ends; return it, or None where it is not known how."""

        async def wait(session: Session) -> None:
            await asyncio.sleep(self._delivery.waiting_s)
            self._announce(session, box, added, waited=True)

        waiting: asyncio.Task[None] | None = None
        last: Session | None = None
        try:
            async with aclosing(self._updates(name)) as updates:
                async for session in updates:
                    last = session
                    self._announce(session, box, added, waited=False)
                    if waiting is not None:
                        waiting.cancel()
                    waiting = group.create_task(wait(session)) if is_waiting(session) else None
        except NotFound:
            log.info("%s was deleted", name)
        except Unavailable as error:
            log.warning("%s: %s", name, error)
            return None
        finally:
            if waiting is not None:
                waiting.cancel()
        return last

    async def _updates(self, name: str) -> AsyncGenerator[Session, None]:
        async for update in self._client.watch(name):
            yield update.session

    async def _post_all(self, box: Outbox, added: Signal) -> None:
        while True:
            while box.pending:
                await self._post(box, box.pending[0])
                added.notify()
            await added.wait()

    async def _post(self, box: Outbox, message: Message) -> None:
        """Post a message until it is delivered or given up."""
        backoff = Backoff(first_s=self._delivery.first_s, most_s=self._delivery.most_s)
        refusals = 0
        while True:
            asked_s = 0.0
            try:
                response = await self._attempt(message)
            except httpx.HTTPError as error:
                log.warning("%s: the receiver is away: %r", message.id, error)
            else:
                status = response.status_code
                if response.is_success:
                    box.delivered(message)
                    return
                why = f"the receiver answered {status}"
                if status < 500 and status not in _TEMPORARY:
                    refusals += 1
                    if refusals >= self._delivery.attempts:
                        why = f"{why} to {refusals} attempts"
                        log.error("%s is given up: %s", message.id, why)
                        box.give_up(message, why)
                        return
                log.warning("%s: %s", message.id, why)
                asked = response.headers.get("retry-after", "")
                asked_s = min(float(asked), _MOST_ASKED_S) if asked.isdecimal() else 0.0
            await asyncio.sleep(backoff.next_s(asked_s))

    async def _attempt(self, message: Message) -> httpx.Response:
        body = message.body.encode()
        headers = signed_headers(self._delivery.secrets, message.id, body, time.time())
        # The content of the reply is not read, however large it is.
        async with self._http.stream(
            "POST",
            self._delivery.url,
            content=body,
            headers={**headers, "content-type": "application/json"},
        ) as response:
            return response
