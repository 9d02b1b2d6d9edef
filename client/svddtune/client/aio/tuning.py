"""The dialogue with sessions for asyncio: take a query, give an answer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any

from svddtune.client.aio.stream import AsyncDialogueStream
from svddtune.client.dialogue import refusals
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.view import DialogueView
from svddtune.client.errors import SvddtuneError
from svddtune.client.inputs.ids import id_text
from svddtune.client.types import Ack, Label, Query, Session, SkipMode, Verdict
from svddtune.v1 import oracle_pb2 as pb

if TYPE_CHECKING:
    from svddtune.client.aio.client import AsyncTuningClient
    from svddtune.client.model import SvddModel
    from svddtune.client.result import Result

# Labels sent ahead of their Acks.
_WINDOW = 256


class AsyncTuning(DialogueView):
    """A labeler's dialogue with sessions, made by `AsyncTuningClient.tuning`.

    ::

        async with client.tuning(session) as tuning:
            async for query in tuning.queries():
                await tuning.answer(query, await look_at(query))

    As `Tuning`: it reconnects by itself, sends again what was not acknowledged, and keeps the
    leases. All within one event loop; as many tasks as you like may use it at once. A task that is
    cancelled while it waits for an Ack takes nothing back: what was said is said.
    """

    def __init__(
        self,
        client: AsyncTuningClient,
        converse: Callable[..., Any],
        dialogue: Dialogue,
        *,
        ack_timeout_s: float,
    ) -> None:
        super().__init__(dialogue, contextlib.nullcontext())
        self._client = client
        self._ack_timeout_s = ack_timeout_s
        self._stream = AsyncDialogueStream(
            dialogue, converse, address=client.address, welcome_within_s=client.timeout_s
        )
        self._changed = self._stream.changed

    async def __aenter__(self) -> AsyncTuning:
        self._check_not_closed()
        self._stream.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self, *, keep_leases: bool = False) -> None:
        """End the dialogue; queries that were not answered go back to the queue.

        With `keep_leases` they stay this labeler's until they run out: a later dialogue that is
        opened with this one's `resume_token` gets them again.
        """
        await self._stream.close(keep_leases=keep_leases)

    # Asked

    async def queries(self) -> AsyncIterator[Query]:
        """Yield queries until nothing more is asked; waits where the next is not ready."""
        while (query := await self.next_query()) is not None:
            yield query

    async def next_query(self, *, timeout_s: float | None = None) -> Query | None:
        """Return the next query, None where nothing more will be asked in the sessions named.

        Where any session is served it waits for those to come. While as many queries as the
        credit are held, it waits until another task settles one.

        Raises
        ------
        Unavailable
            WAIT_TIMEOUT after `timeout_s`, or after ten minutes without the server.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            self._check_open()
            if (query := self._dialogue.take()) is not None:
                return query
            if self._dialogue.finished:
                return None
            remaining_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not await self._changed.wait(remaining_s):
                raise refusals.nothing_to_ask(self._dialogue, timeout_s)

    async def answer(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Ack:
        """Answer `query` with "inlier" (+1), "outlier" (-1) or "unsure"; return once stored.

        An `answer_id` of one's own (at most 128 bytes, unique within the session) makes an answer
        that is given once more, by a program that was restarted say, have one effect.
        """
        checked = Verdict.of(verdict)
        self._check_open()
        return await self._said(
            *self._dialogue.answer(
                query,
                checked,
                time.monotonic(),
                source_reference=source_reference,
                answer_id=answer_id,
            )
        )

    async def skip(self, query: Query, mode: SkipMode | str = SkipMode.LATER) -> Ack:
        """Do not answer `query`: ask me "later", ask "others", or "drop" the observation."""
        checked = SkipMode.of(mode)
        self._check_open()
        return await self._said(*self._dialogue.skip(query, checked))

    def release(self, query: Query) -> None:
        """Give `query` back to the front of the queue."""
        self._check_open()
        self._stream.send(self._dialogue.release(query))

    def set_credit(self, credit: int) -> None:
        """Change how many queries are held at once."""
        self._check_open()
        self._stream.send(self._dialogue.set_credit(credit))

    async def until_gone(self, query: Query) -> str:
        """Wait until `query` waits for this labeler no more; return `lost_reason`.

        Empty where it was answered, skipped or given back here.
        """
        while self._dialogue.is_open(query):
            self._check_open()
            await self._changed.wait()
        return self._dialogue.lost_reason(query)

    # Unasked

    async def label(
        self,
        observation_id: str,
        verdict: object,
        *,
        source_reference: str = "",
        answer_id: str = "",
        replace: bool = False,
        session: str = "",
    ) -> Ack:
        """Label an observation that nobody asked about; `replace` corrects one's own vote on it."""
        checked = Verdict.of(verdict)
        self._check_open()
        return await self._said(
            *self._dialogue.label(
                id_text(observation_id),
                checked,
                session=session,
                source_reference=source_reference,
                answer_id=answer_id,
                replace=replace,
            )
        )

    async def label_many(
        self, labels: Mapping[str, object] | Iterable[Label], *, session: str = ""
    ) -> list[Ack]:
        """Label many observations; return their Acks in order.

        All are sent; where some are refused the first error is raised once all are settled.
        """
        ahead = asyncio.Semaphore(_WINDOW)

        async def one(label: Label) -> Ack | SvddtuneError:
            async with ahead:
                try:
                    return await self.label(
                        label.observation_id,
                        label.verdict,
                        source_reference=label.source_reference,
                        session=session,
                    )
                except SvddtuneError as error:
                    return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(label)) for label in Label.each(labels)]
        acks = list[Ack]()
        for outcome in (task.result() for task in tasks):
            if isinstance(outcome, SvddtuneError):
                raise outcome
            acks.append(outcome)
        return acks

    async def retract(
        self,
        observation_id: str,
        *,
        answer_id: str = "",
        of_labeler: str = "",
        session: str = "",
    ) -> Ack:
        """Withdraw one's vote on an observation, or that of `of_labeler`; it may be asked again."""
        self._check_open()
        return await self._said(
            *self._dialogue.retract(
                id_text(observation_id), session=session, answer_id=answer_id, of_labeler=of_labeler
            )
        )

    # State

    async def session(self) -> Session:
        """Return the session as last heard of (of several: the last one); waits for it."""
        while (found := self._dialogue.served.last) is None:
            self._check_open()
            await self._changed.wait()
        return found

    async def finish(self, session: str = "") -> Session:
        """Stop asking and compute the result from the labels there are."""
        return await self._client.finish_session(self._dialogue.served.name(session))

    async def result(self, session: str = "", *, timeout_s: float | None = None) -> Result:
        """Return the session's result, waiting until it is there."""
        name = self._dialogue.served.name(session)
        await self._client.wait_until_completed(name, timeout_s=timeout_s)
        return await self._client.result(name)

    async def model(self, session: str = "", *, timeout_s: float | None = None) -> SvddModel:
        """Return the fitted model, waiting until it is there."""
        name = self._dialogue.served.name(session)
        await self._client.wait_until_completed(name, timeout_s=timeout_s)
        return await self._client.model(name)

    async def _said(self, message: pb.ConverseRequest, future: Future[Ack]) -> Ack:
        self._stream.send(message)
        try:
            async with asyncio.timeout(self._ack_timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise refusals.no_ack(self._client.address, self._ack_timeout_s) from None

    def _check_open(self) -> None:
        self._check_not_closed()
        refusals.check_started(self._dialogue, self._stream.started)

    def _check_not_closed(self) -> None:
        refusals.check_open(self._dialogue, self._stream.error, self._stream.closed)
