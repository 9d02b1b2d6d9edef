"""The dialogue with sessions: take a query, give an answer."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import TYPE_CHECKING, Any

from svddtune.client.dialogue import refusals
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.stream import DialogueStream
from svddtune.client.dialogue.view import DialogueView
from svddtune.client.errors import SvddtuneError
from svddtune.client.inputs.ids import id_text
from svddtune.client.types import Ack, Label, Query, Session, SkipMode, Verdict

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.model import SvddModel
    from svddtune.client.result import Result

# Labels sent ahead of their Acks.
WINDOW = 256


class Tuning(DialogueView):
    """A labeler's dialogue with sessions, made by `TuningClient.tuning`. Thread-safe.

    ::

        with client.tuning(session) as tuning:
            for query in tuning.queries():
                tuning.answer(query, look_at(query))
            print(tuning.result().gamma)

    The stream beneath reconnects by itself for ten minutes; what was not acknowledged is sent
    again with the same answer id, so an answer counts once. While queries are held their leases
    are extended. Closing gives back what was not answered. Where several sessions are served,
    `session` says which one an unasked label or a retraction is about.
    """

    def __init__(
        self,
        client: TuningClient,
        converse: Callable[..., Any],
        sessions: Sequence[str],
        *,
        labeler: str,
        kind: str,
        credit: int,
        ack_timeout_s: float,
        provenance: str = "",
        extend: bool = True,
        resume_token: str = "",
    ) -> None:
        dialogue = Dialogue(
            sessions,
            labeler=labeler,
            kind=kind,
            credit=credit,
            provenance=provenance,
            resume_token=resume_token,
            extend=extend,
        )
        self._client = client
        self._ack_timeout_s = ack_timeout_s
        self._stream = DialogueStream(
            dialogue, converse, address=client.address, welcome_within_s=client.timeout_s
        )
        self._changed: threading.Condition = self._stream.changed
        super().__init__(dialogue, self._changed)

    def __enter__(self) -> Tuning:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self, *, keep_leases: bool = False) -> None:
        """End the dialogue; queries that were not answered go back to the queue.

        With `keep_leases` they stay this labeler's until they run out: a later dialogue that is
        opened with this one's `resume_token` gets them again.
        """
        self._stream.close(keep_leases=keep_leases)

    # Asked

    def queries(self) -> Iterator[Query]:
        """Yield queries until nothing more is asked; waits where the next is not ready."""
        while (query := self.next_query()) is not None:
            yield query

    def next_query(self, *, timeout_s: float | None = None) -> Query | None:
        """Return the next query, None where nothing more will be asked in the sessions named.

        Where any session is served it waits for those to come.

        Raises
        ------
        WrongState
            QUERY_UNANSWERED: with a credit of 1 no query comes before the last one is settled.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`, or after ten minutes without the server.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with self._changed:
            while True:
                self._check_open()
                if (query := self._dialogue.take()) is not None:
                    return query
                if self._dialogue.finished:
                    return None
                refusals.check_settled(self._dialogue)
                remaining_s = None if deadline is None else deadline - time.monotonic()
                if not self._changed.wait(remaining_s) and remaining_s is not None:
                    raise refusals.nothing_to_ask(self._dialogue, timeout_s)

    def answer(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Ack:
        """Answer `query` with "inlier" (+1), "outlier" (-1) or "unsure"; return once stored."""
        return self.wait(
            self.submit(query, verdict, source_reference=source_reference, answer_id=answer_id)
        )

    def submit(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Future[Ack]:
        """Answer `query` without waiting; the future has the Ack, or the error.

        An `answer_id` of one's own (at most 128 bytes, unique within the session) makes an answer
        that is given once more, by a program that was restarted say, have one effect.
        """
        checked = Verdict.of(verdict)
        with self._changed:
            self._check_open()
            message, future = self._dialogue.answer(
                query,
                checked,
                time.monotonic(),
                source_reference=source_reference,
                answer_id=answer_id,
            )
            self._stream.send(message)
        return future

    def skip(self, query: Query, mode: SkipMode | str = SkipMode.LATER) -> Ack:
        """Do not answer `query`: ask me "later", ask "others", or "drop" the observation."""
        checked = SkipMode.of(mode)
        with self._changed:
            self._check_open()
            message, future = self._dialogue.skip(query, checked)
            self._stream.send(message)
        return self.wait(future)

    def release(self, query: Query) -> None:
        """Give `query` back to the front of the queue."""
        with self._changed:
            self._check_open()
            self._stream.send(self._dialogue.release(query))

    def set_credit(self, credit: int) -> None:
        """Change how many queries are held at once."""
        with self._changed:
            self._check_open()
            self._stream.send(self._dialogue.set_credit(credit))

    # Unasked

    def label(
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
        return self.wait(
            self.submit_label(
                observation_id,
                verdict,
                source_reference=source_reference,
                answer_id=answer_id,
                replace=replace,
                session=session,
            )
        )

    def submit_label(
        self,
        observation_id: str,
        verdict: object,
        *,
        source_reference: str = "",
        answer_id: str = "",
        replace: bool = False,
        session: str = "",
    ) -> Future[Ack]:
        """Label an observation unasked without waiting; the future has the Ack, or the error."""
        checked = Verdict.of(verdict)
        with self._changed:
            self._check_open()
            message, future = self._dialogue.label(
                id_text(observation_id),
                checked,
                session=session,
                source_reference=source_reference,
                answer_id=answer_id,
                replace=replace,
            )
            self._stream.send(message)
        return future

    def label_many(
        self, labels: Mapping[str, object] | Iterable[Label], *, session: str = ""
    ) -> list[Ack]:
        """Label many observations; return their Acks in order.

        All are sent; where some are refused the first error is raised once all are settled.
        """
        acks, waiting = list[Ack](), deque[Future[Ack]]()
        first: SvddtuneError | None = None
        for label in Label.each(labels):
            waiting.append(
                self.submit_label(
                    label.observation_id,
                    label.verdict,
                    source_reference=label.source_reference,
                    session=session,
                )
            )
            if len(waiting) >= WINDOW:
                first = first or self._settle(waiting.popleft(), acks)
        while waiting:
            first = first or self._settle(waiting.popleft(), acks)
        if first is not None:
            raise first
        return acks

    def retract(
        self,
        observation_id: str,
        *,
        answer_id: str = "",
        of_labeler: str = "",
        session: str = "",
    ) -> Ack:
        """Withdraw one's vote on an observation, or that of `of_labeler`; it may be asked again."""
        with self._changed:
            self._check_open()
            message, future = self._dialogue.retract(
                id_text(observation_id), session=session, answer_id=answer_id, of_labeler=of_labeler
            )
            self._stream.send(message)
        return self.wait(future)

    # State

    @property
    def session(self) -> Session:
        """The session as the dialogue last heard of it; waits for the first word of it.

        Of several: the one heard of last.
        """
        with self._changed:
            while (found := self._dialogue.served.last) is None:
                self._check_open()
                self._changed.wait()
            return found

    def finish(self, session: str = "") -> Session:
        """Stop asking and compute the result from the labels there are."""
        return self._client.finish_session(self._dialogue.served.name(session))

    def result(self, session: str = "", *, timeout_s: float | None = None) -> Result:
        """Return the session's result, waiting until it is there."""
        name = self._dialogue.served.name(session)
        self._client.wait_until_completed(name, timeout_s=timeout_s)
        return self._client.result(name)

    def model(self, session: str = "", *, timeout_s: float | None = None) -> SvddModel:
        """Return the fitted model, waiting until it is there."""
        name = self._dialogue.served.name(session)
        self._client.wait_until_completed(name, timeout_s=timeout_s)
        return self._client.model(name)

    def wait(self, future: Future[Ack], *, timeout_s: float | None = None) -> Ack:
        """Return the Ack that a submitted answer gets."""
        limit_s = self._ack_timeout_s if timeout_s is None else timeout_s
        try:
            return future.result(limit_s)
        except FutureTimeoutError:
            raise refusals.no_ack(self._client.address, limit_s) from None

    def _settle(self, future: Future[Ack], acks: list[Ack]) -> SvddtuneError | None:
        try:
            acks.append(self.wait(future))
        except SvddtuneError as error:
            return error
        return None

    def _check_open(self) -> None:
        refusals.check_open(self._dialogue, self._stream.error, self._stream.closed)
