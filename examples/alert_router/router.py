"""Turns the service's queries into messages, and clicks into answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence

import httpx

from alert_router.chat import Chat, wording
from alert_router.ledger import Ledger, Message, State
from alert_router.links import Click, Links
from svddtune import Ack, Query, SvddtuneError, Unavailable
from svddtune.client.aio import AsyncTuning

log = logging.getLogger("alert_router")

# Seconds after its end in which a lease of the last run may come back.
_RETURN_S = 2.0
_EDIT_TRIES = 5
_NOT_NEEDED = "This answer is no longer needed; thank you all the same."


class Question:
    """A query that goes from analyst to analyst, one message at a time, until it has an answer."""

    def __init__(self, query: Query, message: Message, *, returned: bool) -> None:
        self.query = query
        # False for a query of the last run until the service assigns it again.
        self.returned = asyncio.Event()
        if returned:
            self.returned.set()
        self.put_to(message)

    def put_to(self, message: Message) -> None:
        """Continue with another message."""
        self.message = message
        self.clicked = asyncio.Event()
        if message.state is State.CLICKED:
            self.clicked.set()
        # The text of the page after a click.
        self.words: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def say(self, words: str) -> None:
        """Set the text of the page after a click."""
        if not self.words.done():
            self.words.set_result(words)


class Router:
    """Asks `analysts`. Each message is one query, and its first click is the answer.

    A click waits `patience_s` for the service. After that its page says that the answer is sent
    later.
    """

    def __init__(
        self,
        tuning: AsyncTuning,
        chat: Chat,
        links: Links,
        ledger: Ledger,
        analysts: Sequence[str],
        *,
        patience_s: float,
    ) -> None:
        self._tuning = tuning
        self._chat = chat
        self._links = links
        self._ledger = ledger
        self._analysts = tuple(analysts)
        self._patience_s = patience_s
        self._questions: dict[tuple[str, int], Question] = {}

    async def run(self) -> None:
        """Ask until the session asks no further queries."""
        async with asyncio.TaskGroup() as group:
            for message in self._ledger.live():
                question = Question(message.query(), message, returned=False)
                self._questions[message.session, message.number] = question
                group.create_task(self._see_through(question))
            async for query in self._tuning.queries():
                self._ledger.keep_token(self._tuning.resume_token)
                known = self._questions.get((query.session, query.number))
                if known is not None:  # asked in the last run, or in an earlier lease
                    self._ledger.lease(known.message, query)
                    known.query = query
                    known.returned.set()
                    continue
                message = self._ledger.ask(query, self._least_busy(self._analysts))
                question = Question(query, message, returned=True)
                self._questions[query.session, query.number] = question
                group.create_task(self._see_through(question))
        log.info("Nothing more is asked: %s", self._tuning.finished)

    async def click(self, click: Click) -> tuple[int, str]:
        """Accept a click; return the status and text of the page that the analyst sees."""
        message = self._ledger.messages.get(click.message)
        if message is None:
            return 404, "This question is not known here (any more)."
        question = self._questions.get((message.session, message.number))
        if message.live and question is None:
            return 503, "This is being started: try again in a moment."
        if message.state is State.ASKED and question is not None:
            self._ledger.set(message, State.CLICKED, click.choice)
            question.clicked.set()
            return await self._outcome(question, click.choice)
        if message.state is State.CLICKED and question is not None:
            status, words = await self._outcome(question, message.choice)
            return (status, words) if click.choice == message.choice else _settled(message, click)
        if message.state is State.GONE:
            return 410, _NOT_NEEDED
        return _settled(message, click)

    async def _outcome(self, question: Question, choice: str) -> tuple[int, str]:
        try:
            async with asyncio.timeout(self._patience_s):
                return 200, await asyncio.shield(question.words)
        except TimeoutError:
            return 202, f"Noted: {choice}. It is passed on once the service is back."

    async def _see_through(self, question: Question) -> None:
        try:
            while reason := await self._ask(question):
                message = question.message
                if reason != "clicked":
                    self._ledger.set(message, State.GONE)
                    log.info("Query %d is no longer needed: %s", message.number, reason)
                    await self._edit(message, "no longer needed")
                    return
                if message.choice != "skip" or not await self._pass_on(question):
                    await self._tell(question)
                    return
        finally:
            del self._questions[question.query.session, question.query.number]

    async def _ask(self, question: Question) -> str:
        """Post the message if it is not posted yet; return "clicked", or why it is not needed."""
        clicked = asyncio.create_task(self._post_and_wait(question))
        gone = asyncio.create_task(self._until_gone(question))
        try:
            await asyncio.wait((clicked, gone), return_when=asyncio.FIRST_COMPLETED)
            return clicked.result() if clicked.done() else gone.result()
        finally:
            for task in (clicked, gone):
                task.cancel()
            await asyncio.gather(clicked, gone, return_exceptions=True)

    async def _post_and_wait(self, question: Question) -> str:
        message = question.message
        pause_s = 0.5
        while not message.chat_id and message.state is State.ASKED:
            links = self._links.of(message.id)
            try:
                self._ledger.posted(
                    message, await self._chat.post(message, wording(question.query), links)
                )
            except httpx.HTTPError as error:
                log.warning("The chat did not take a message: %r", error)
                await asyncio.sleep(pause_s)
                pause_s = min(30.0, 2 * pause_s)
        await question.clicked.wait()
        return "clicked"

    async def _until_gone(self, question: Question) -> str:
        """Wait until the query needs no answer here; return why."""
        until_s = max(0.0, question.message.lease_until - time.time()) + _RETURN_S
        try:
            async with asyncio.timeout(until_s):
                await question.returned.wait()
        except TimeoutError:
            return "EXPIRED"
        return await self._tuning.until_gone(question.query) or "SETTLED"

    async def _pass_on(self, question: Question) -> bool:
        """Ask another analyst; return False if all were asked."""
        asked = self._ledger.asked_about(question.query)
        others = [name for name in self._analysts if name not in asked]
        if not others:
            return False
        message = question.message
        self._ledger.set(message, State.PASSED_ON)
        question.say("Thank you: it goes to somebody else.")
        question.put_to(self._ledger.ask(question.query, self._least_busy(others)))
        await self._edit(message, f"passed on to {question.message.analyst}")
        return True

    async def _tell(self, question: Question) -> None:
        """Send the click to the service, until it succeeds."""
        message = question.message
        try:
            applied = (await self._until_stored(message)).applied
        except (Unavailable, asyncio.CancelledError):
            raise  # the next run sends it
        except SvddtuneError as error:
            if error.reason == "CLIENT_CLOSED":
                raise
            log.info("Query %d: %s", message.number, error)
            self._ledger.set(message, State.GONE)
            question.say(_NOT_NEEDED)
            await self._edit(message, "no longer needed")
            return
        self._ledger.set(message, State.ANSWERED)
        late = "" if applied else " It came too late to count."
        question.say(f"Thank you: {message.choice}.{late}")
        await self._edit(message, message.choice)

    async def _until_stored(self, message: Message) -> Ack:
        query = message.query()
        while True:
            try:
                if message.choice == "skip":
                    return await self._tuning.skip(query, "others")
                # The answer's id is the message's id, so a repeated answer counts once.
                return await self._tuning.answer(
                    query,
                    message.choice,
                    answer_id=message.id,
                    source_reference=f"{message.analyst}/{message.chat_id}"[:256],
                )
            except Unavailable as error:
                if error.reason != "ACK_TIMEOUT":
                    raise

    async def _edit(self, message: Message, outcome: str) -> None:
        if not message.chat_id:
            return
        text = f"Alert {message.observation_id}: {outcome}."
        for attempt in range(_EDIT_TRIES):
            try:
                await self._chat.edit(message.chat_id, text)
                return
            except httpx.HTTPError as error:
                log.warning("The chat did not edit a message: %r", error)
                await asyncio.sleep(2**attempt)

    def _least_busy(self, analysts: Sequence[str]) -> str:
        busy = Counter(message.analyst for message in self._ledger.live())
        return min(analysts, key=lambda name: busy[name])


def _settled(message: Message, click: Click) -> tuple[int, str]:
    status = 200 if click.choice == message.choice else 409
    return status, f"This was answered already: {message.choice}."
