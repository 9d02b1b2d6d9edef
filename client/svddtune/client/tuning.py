# Generated from client/svddtune/client/aio/tuning.py by tools/generate_sync.py.
"""The dialogue with sessions: take a query, give an answer."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType

from svddtune.client.dialogue import refusals
from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.dialogue.stream import DialogueStream
from svddtune.client.dialogue.view import DialogueView
from svddtune.client.errors import SvddtuneError
from svddtune.client.inputs.ids import id_text
from svddtune.client.inputs.label_values import labels_from
from svddtune.client.model import SvddModel
from svddtune.client.result import Result
from svddtune.client.types import Ack, BatchOutcome, Judgement, Label, Query, Session, SkipMode
from svddtune.client.wire import calls
from svddtune.client.wire.connection import Connection
from svddtune.client.wire.sessions import answer_all, fetch_model, wait_until_completed

# Labels sent ahead of their Acks.
_WINDOW = 256


class Tuning(DialogueView):
    """A labeler's dialogue with sessions, made by `TuningClient.tuning`.

    ::

        with client.tuning(session) as tuning:
            for query in tuning.queries():
                tuning.answer(query, verdict_on(query))
            print((tuning.result()).gamma)

    A broken stream is opened again for ten minutes. Answers without an acknowledgement (Ack) are
    then sent again with the same answer id, so that each counts once. Leases are extended while
    queries are held. Closing the dialogue gives back the queries that were not answered. Where a
    dialogue serves several sessions, `session` names the one that a label or a retraction is about.

    Several threads may use a blocking dialogue at once. Several tasks of one event loop may use an
    asyncio dialogue at once. A task that is cancelled while it waits for an Ack withdraws nothing:
    its answer is sent and counts.

    Methods that send or wait may raise these errors; each method names what else it raises.

    - The error that ended the dialogue.
    - WrongState: CLIENT_CLOSED, the dialogue was closed; with asyncio NOT_OPEN, it was not entered.
    - Unavailable: ACK_TIMEOUT, no Ack came within `ack_timeout_s`. The answer is kept and is sent
      again.
    """

    def __init__(
        self,
        connection: Connection,
        dialogue: Dialogue,
        stream: DialogueStream,
        *,
        ack_timeout_s: float,
    ) -> None:
        super().__init__(dialogue, stream.lock)
        self._connection = connection
        self._stream = stream
        self._ack_timeout_s = ack_timeout_s

    def __enter__(self) -> Tuning:
        self._stream.start()
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

        Parameters
        ----------
        keep_leases : bool
            True keeps the queries with this labeler until their leases expire. A later dialogue
            that is opened with this one's `resume_token` gets them again. Default False.
        """
        self._stream.close(keep_leases=keep_leases)

    # Asked

    def queries(self) -> Iterator[Query]:
        """Yield queries until nothing more is asked; waits where the next is not ready.

        Raises
        ------
        WrongState, Unavailable
            As `next_query`.
        """
        while (query := self.next_query()) is not None:
            yield query

    def next_query(self, *, timeout_s: float | None = None) -> Query | None:
        """Return the next query, None where nothing more will be asked in the sessions named.

        A dialogue that serves any session waits for sessions to come.

        Parameters
        ----------
        timeout_s : float, optional
            Seconds to wait at most; default without end.

        Raises
        ------
        WrongState
            QUERY_UNANSWERED: the credit is 1 and the last query is not settled, so no other comes.
            With asyncio the call waits instead, because another task may settle it.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`; UNAVAILABLE, the server was away for ten minutes.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with self._lock:
            while True:
                self._stream.check_open()
                if (query := self._dialogue.take()) is not None:
                    return query
                if self._dialogue.finished:
                    return None
                self._stream.check_settled()
                remaining_s = None if deadline is None else max(0.0, deadline - time.monotonic())
                if not self._stream.changed.wait(remaining_s):
                    raise refusals.nothing_to_ask(self._dialogue, timeout_s)

    def answer(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Ack:
        """Answer `query`; return the Ack once the answer is stored.

        Parameters
        ----------
        query : Query
            A query of this dialogue.
        verdict : Judgement, Verdict, str, int or tuple
            "inlier" (+1), "outlier" (-1) or "unsure"; ("outlier", 0.8) also says how sure the
            labeler is, see `Judgement`.
        source_reference : str
            Where the verdict comes from, e.g. the number of a ticket; stored with the label.
        answer_id : str
            At most 128 bytes, unique within the session; default a new id. An answer that is given
            twice with one id, e.g. by a program that was restarted, has one effect.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: `verdict` is not a verdict, or its confidence is out of range.
        LeaseLost
            LEASE_LOST: this labeler does not hold the query any more.
        Conflict
            ALREADY_ANSWERED; ANSWER_ID_REUSED: another answer has this id.
        WrongState
            SESSION_NOT_ACTIVE; LABELER_WITHDRAWN.
        NotFound
            SESSION_NOT_FOUND: the session was deleted.
        """
        return self.wait(
            self.submit(query, verdict, source_reference=source_reference, answer_id=answer_id)
        )

    def submit(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Future[Ack]:
        """Answer `query` without waiting; return a future that has the Ack, or the error.

        Parameters
        ----------
        query, verdict, source_reference, answer_id
            As in `answer`. The future holds the errors of `answer` that are not listed here.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: `verdict` is not a verdict, or its confidence is out of range.
        """
        checked = Judgement.of(verdict)
        with self._lock:
            self._stream.check_open()
            return self._stream.submit(
                *self._dialogue.answer(
                    query,
                    checked.verdict,
                    time.monotonic(),
                    confidence=checked.confidence,
                    source_reference=source_reference,
                    answer_id=answer_id,
                )
            )

    def skip(self, query: Query, mode: SkipMode | str = SkipMode.LATER) -> Ack:
        """Do not answer `query`; return the Ack.

        Parameters
        ----------
        query : Query
            A query of this dialogue.
        mode : SkipMode or str
            "later" (default) asks this labeler again, "others" asks other labelers, and "drop" asks
            nobody about the observation.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: `mode` is unknown.
        LeaseLost
            LEASE_LOST: this labeler does not hold the query any more.
        """
        checked = SkipMode.of(mode)
        with self._lock:
            self._stream.check_open()
            future = self._stream.submit(*self._dialogue.skip(query, checked))
        return self.wait(future)

    def release(self, query: Query) -> None:
        """Give `query` back to the front of the queue.

        Parameters
        ----------
        query : Query
            A query of this dialogue.
        """
        with self._lock:
            self._stream.check_open()
            self._stream.send(self._dialogue.release(query))

    def set_credit(self, credit: int) -> None:
        """Change how many queries are held at once.

        Parameters
        ----------
        credit : int
            0 or more; 0 asks for no query.
        """
        with self._lock:
            self._stream.check_open()
            self._stream.send(self._dialogue.set_credit(credit))

    def until_gone(self, query: Query) -> str:
        """Wait until this labeler no longer has to answer `query`; return `lost_reason`.

        Parameters
        ----------
        query : Query
            A query of this dialogue.

        Returns
        -------
        str
            Empty where the query was answered, skipped or given back in this dialogue.
        """
        with self._lock:
            while self._dialogue.is_open(query):
                self._stream.check_open()
                self._stream.changed.wait()
            return self._dialogue.lost_reason(query)

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
        """Label an observation that nobody asked about; return the Ack once it is stored.

        Parameters
        ----------
        observation_id : str
            Id of the observation in the dataset.
        verdict : Judgement, Verdict, str, int or tuple
            "inlier" (+1), "outlier" (-1) or "unsure"; ("outlier", 0.8) also says how sure the
            labeler is, see `Judgement`.
        source_reference : str
            Where the verdict comes from, e.g. the number of a ticket; stored with the label.
        answer_id : str
            At most 128 bytes, unique within the session; default a new id. A label that is given
            twice with one id has one effect.
        replace : bool
            True corrects this labeler's own vote on the observation.
        session : str
            Resource name; needed where the dialogue serves several sessions.

        Raises
        ------
        InvalidInput
            UNKNOWN_OBSERVATION; INVALID_FIELD: `observation_id` is not an id or `verdict` is not a
            verdict; SESSION_AMBIGUOUS: `session` is needed.
        Conflict
            ALREADY_ANSWERED: this labeler has voted on the observation, and `replace` is False;
            ANSWER_ID_REUSED: another answer has this id.
        WrongState
            SESSION_NOT_ACTIVE; LABELER_WITHDRAWN.
        QuotaExceeded
            TOO_MANY_CORRECTIONS: this labeler has corrected the observation too often.
        NotFound
            SESSION_NOT_FOUND.
        """
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
        """Label an observation without waiting; return a future that has the Ack, or the error.

        Parameters
        ----------
        observation_id, verdict, source_reference, answer_id, replace, session
            As in `label`. The future holds the errors of `label` that are not listed here.

        Raises
        ------
        InvalidInput
            INVALID_FIELD: `observation_id` is not an id, `verdict` is not a verdict, or its
            confidence is out of range; SESSION_AMBIGUOUS: `session` is needed.
        """
        checked = Judgement.of(verdict)
        with self._lock:
            self._stream.check_open()
            return self._stream.submit(
                *self._dialogue.label(
                    id_text(observation_id),
                    checked.verdict,
                    session=session,
                    confidence=checked.confidence,
                    source_reference=source_reference,
                    answer_id=answer_id,
                    replace=replace,
                )
            )

    def label_many(
        self, labels: Mapping[str, object] | Iterable[Label], *, session: str = ""
    ) -> list[Ack]:
        """Label many observations; return their Acks in order.

        Parameters
        ----------
        labels : mapping or iterable of Label
            A mapping of observation ids to verdicts, or Labels.
        session : str
            Resource name; needed where the dialogue serves several sessions.

        Raises
        ------
        SvddtuneError
            As `label`. All labels are sent. Where some are refused, the first error is raised after
            all are settled.
        """
        acks, waiting = list[Ack](), deque[Future[Ack]]()
        first: SvddtuneError | None = None
        for label in labels_from(labels):
            waiting.append(
                self.submit_label(
                    label.observation_id,
                    Judgement(label.verdict, label.confidence),
                    source_reference=label.source_reference,
                    session=session,
                )
            )
            if len(waiting) >= _WINDOW:
                first = first or self._settle(waiting.popleft(), acks)
        while waiting:
            first = first or self._settle(waiting.popleft(), acks)
        if first is not None:
            raise first
        return acks

    def label_all(
        self,
        labels: Mapping[str, object] | Iterable[Label],
        *,
        answer_ids: Mapping[str, str] | None = None,
        replace: bool = False,
        session: str = "",
    ) -> BatchOutcome:
        """Label many observations in batches, thousands a second; return what became of them.

        Parameters
        ----------
        labels : mapping or iterable of Label
            A mapping of observation ids to verdicts, or Labels; at least one.
        answer_ids : mapping of str to str, optional
            Observation id to the id of its answer, at most 128 bytes, unique within the session;
            new ids by default. An answer whose id is known already counts once.
        replace : bool
            Correct one's own earlier votes.
        session : str
            Resource name; needed where the dialogue serves several sessions.

        Returns
        -------
        BatchOutcome
            Refused labels with their errors: those of `label`.

        Raises
        ------
        InvalidInput
            INVALID_FIELD, INVALID_LABEL, SESSION_AMBIGUOUS: as `label`; there are no labels.
        NotFound
            SESSION_NOT_FOUND.
        Unavailable
            The service was away for ten minutes.

        Notes
        -----
        `label` and `label_many` compute a ranking after every few labels, this only one in all.
        """
        answers = calls.unasked_answers(
            labels,
            provenance=self._dialogue.provenance,
            replace=replace,
            answer_ids=answer_ids,
        )
        name = self._dialogue.served.name(session)
        return answer_all(self._connection, name, self.labeler, answers)

    def retract(
        self,
        observation_id: str,
        *,
        answer_id: str = "",
        of_labeler: str = "",
        session: str = "",
    ) -> Ack:
        """Withdraw a vote on an observation, which may be asked again; return the Ack.

        Parameters
        ----------
        observation_id : str
            Id of the observation in the dataset.
        answer_id : str
            At most 128 bytes, unique within the session; default a new id.
        of_labeler : str
            Labeler whose vote is withdrawn; default this labeler.
        session : str
            Resource name; needed where the dialogue serves several sessions.

        Raises
        ------
        InvalidInput
            UNKNOWN_OBSERVATION; INVALID_FIELD: `observation_id` is not an id; SESSION_AMBIGUOUS:
            `session` is needed.
        WrongState
            NOT_LABELED: there is no such vote; SESSION_NOT_ACTIVE; LABELER_WITHDRAWN.
        NotFound
            SESSION_NOT_FOUND.
        """
        with self._lock:
            self._stream.check_open()
            future = self._stream.submit(
                *self._dialogue.retract(
                    id_text(observation_id),
                    session=session,
                    answer_id=answer_id,
                    of_labeler=of_labeler,
                )
            )
        return self.wait(future)

    def wait(self, future: Future[Ack], *, timeout_s: float | None = None) -> Ack:
        """Return the Ack that a submitted answer gets.

        Parameters
        ----------
        future : Future
            Returned by `submit` or `submit_label`.
        timeout_s : float, optional
            Seconds to wait at most; default the dialogue's `ack_timeout_s`.

        Raises
        ------
        SvddtuneError
            The answer was refused, as `answer` and `label` say.
        Unavailable
            ACK_TIMEOUT after `timeout_s`.
        """
        limit_s = self._ack_timeout_s if timeout_s is None else timeout_s
        try:
            return self._stream.wait(future, limit_s)
        except TimeoutError:
            raise refusals.no_ack(self._connection.address, limit_s) from None

    # State

    @property
    def session(self) -> Session:
        """Return the session as the dialogue last heard of it; waits until it has heard of one.

        Where several are served: the one that it heard of last.
        """
        with self._lock:
            while (found := self._dialogue.served.last) is None:
                self._stream.check_open()
                self._stream.changed.wait()
            return found

    def finish(self, session: str = "") -> Session:
        """Stop asking and compute the result from the labels there are; return the session.

        Parameters
        ----------
        session : str
            Resource name; needed where the dialogue serves several sessions.

        Raises
        ------
        InvalidInput
            SESSION_AMBIGUOUS: `session` is needed.
        WrongState
            ILLEGAL_TRANSITION: the session has ended.
        NotFound
            SESSION_NOT_FOUND.
        """
        return self._connection.do(calls.finish_session(self._dialogue.served.name(session)))

    def result(self, session: str = "", *, timeout_s: float | None = None) -> Result:
        """Return the session's result, waiting until it is there.

        Parameters
        ----------
        session : str
            Resource name; needed where the dialogue serves several sessions.
        timeout_s : float, optional
            Seconds to wait at most; default without end.

        Raises
        ------
        InvalidInput
            SESSION_AMBIGUOUS: `session` is needed.
        WrongState
            The session ended without a result; the reason is the session's.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`.
        """
        name = self._dialogue.served.name(session)
        wait_until_completed(self._connection, name, timeout_s=timeout_s)
        return self._connection.do(calls.get_result(name, None))

    def model(self, session: str = "", *, timeout_s: float | None = None) -> SvddModel:
        """Return the fitted model, waiting until it is there.

        Parameters
        ----------
        session : str
            Resource name; needed where the dialogue serves several sessions.
        timeout_s : float, optional
            Seconds to wait at most; default without end.

        Raises
        ------
        InvalidInput
            SESSION_AMBIGUOUS: `session` is needed.
        WrongState
            The session ended without a result; the reason is the session's.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`.
        ModelCorrupt
            The model that came does not reproduce its own check values.
        """
        name = self._dialogue.served.name(session)
        wait_until_completed(self._connection, name, timeout_s=timeout_s)
        return fetch_model(self._connection, name, None)

    def _settle(self, future: Future[Ack], acks: list[Ack]) -> SvddtuneError | None:
        try:
            acks.append(self.wait(future))
        except SvddtuneError as error:
            return error
        return None
