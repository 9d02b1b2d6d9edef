"""The dialogue with one session: take a query, give an answer."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import TYPE_CHECKING

import grpc

from svddtune.client.dialogue import Dialogue
from svddtune.client.errors import InvalidInput, SvddtuneError, Unavailable, WrongState
from svddtune.client.stream import DialogueStream
from svddtune.client.types import Ack, Label, LabelCounts, Query, Session, SkipMode, Verdict
from svddtune.v1 import oracle_pb2_grpc

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.model import SvddModel
    from svddtune.client.result import Result

_RECONNECT_FOR_S = 600.0
_WINDOW = 256


class Tuning:
    """A labeler's dialogue with one session, made by `TuningClient.tuning`. Thread-safe.

    ::

        with client.tuning(session) as tuning:
            for query in tuning.queries():
                tuning.answer(query, look_at(query))
            print(tuning.result().gamma)

    The stream beneath reconnects by itself for ten minutes; what was not acknowledged is sent
    again with the same answer id, so an answer counts once. While queries are held their leases
    are extended. Closing gives back what was not answered.
    """

    def __init__(
        self,
        client: TuningClient,
        channel: grpc.Channel,
        session: str,
        *,
        labeler: str,
        kind: str,
        credit: int,
        ack_timeout_s: float,
    ) -> None:
        self.name = session
        self.labeler = labeler
        self._client = client
        self._ack_timeout_s = ack_timeout_s
        self._dialogue = Dialogue(session, labeler=labeler, kind=kind, credit=credit)
        self._stream = DialogueStream(
            self._dialogue,
            oracle_pb2_grpc.OracleServiceStub(channel).Converse,
            address=client.address,
            welcome_within_s=client.timeout_s,
            reconnect_for_s=_RECONNECT_FOR_S,
        )
        self._changed: threading.Condition = self._stream.changed

    def __enter__(self) -> Tuning:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the dialogue; queries that were not answered go back to the queue."""
        self._stream.close()

    # Asked

    def queries(self) -> Iterator[Query]:
        """Yield queries until nothing more is asked; waits where the next is not ready."""
        while (query := self.next_query()) is not None:
            yield query

    def next_query(self, *, timeout_s: float | None = None) -> Query | None:
        """Return the next query, None where nothing more will be asked.

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
                if self._dialogue.finished:
                    return None
                if self._dialogue.inbox:
                    return self._dialogue.held[self._dialogue.inbox.popleft()]
                if self._dialogue.credit == 1 and self._dialogue.open_count >= 1:
                    raise self._unanswered()
                remaining_s = None if deadline is None else deadline - time.monotonic()
                if not self._changed.wait(remaining_s) and remaining_s is not None:
                    raise Unavailable(
                        f"{self.name} had nothing to ask within {timeout_s} s",
                        reason="WAIT_TIMEOUT",
                    )

    def answer(self, query: Query, verdict: object, *, source_reference: str = "") -> Ack:
        """Answer `query` with "inlier" (+1), "outlier" (-1) or "unsure"; return once stored."""
        return self.wait(self.submit(query, verdict, source_reference=source_reference))

    def submit(self, query: Query, verdict: object, *, source_reference: str = "") -> Future[Ack]:
        """Answer `query` without waiting; the future has the Ack, or the error."""
        checked = Verdict.of(verdict)
        with self._changed:
            self._check_open()
            message, future = self._dialogue.answer(
                query, checked, source_reference, time.monotonic()
            )
            self._stream.send(message)
        return future

    def skip(self, query: Query, mode: SkipMode | str = SkipMode.LATER) -> Ack:
        """Do not answer `query`: ask me "later", ask "others", or "drop" the observation."""
        try:
            checked = SkipMode(mode)
        except ValueError:
            raise InvalidInput(
                f"{mode!r} is not a way to skip: use 'later', 'others' or 'drop'"
            ) from None
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

    def is_open(self, query: Query) -> bool:
        """Return whether `query` still waits for this labeler's answer."""
        with self._changed:
            return self._dialogue.is_open(query)

    def set_credit(self, credit: int) -> None:
        """Change how many queries are held at once."""
        with self._changed:
            self._check_open()
            self._stream.send(self._dialogue.set_credit(credit))

    # Unasked

    def label(self, observation_id: str, verdict: object, *, source_reference: str = "") -> Ack:
        """Label an observation that nobody asked about."""
        future = self._submit_label(
            Label(str(observation_id), Verdict.of(verdict), source_reference)
        )
        return self.wait(future)

    def label_many(self, labels: Mapping[str, object] | Iterable[Label]) -> list[Ack]:
        """Label many observations; return their Acks in order.

        All are sent; where some are refused the first error is raised once all are settled.
        """
        if isinstance(labels, Mapping):
            labels = [Label(str(i), Verdict.of(verdict)) for i, verdict in labels.items()]
        acks, waiting = list[Ack](), deque[Future[Ack]]()
        first: SvddtuneError | None = None
        for label in labels:
            waiting.append(self._submit_label(label))
            if len(waiting) >= _WINDOW:
                first = first or self._settle(waiting.popleft(), acks)
        while waiting:
            first = first or self._settle(waiting.popleft(), acks)
        if first is not None:
            raise first
        return acks

    def retract(self, observation_id: str) -> Ack:
        """Withdraw the label of an observation; it may be asked about again."""
        with self._changed:
            self._check_open()
            message, future = self._dialogue.retract(str(observation_id))
            self._stream.send(message)
        return self.wait(future)

    # State

    @property
    def session(self) -> Session:
        """The session as the dialogue last heard of it; waits for the first Welcome."""
        with self._changed:
            while self._dialogue.session is None:
                self._check_open()
                self._changed.wait()
            return self._dialogue.session

    @property
    def counts(self) -> LabelCounts:
        """Labels per class, as the last Ack or Progress told."""
        with self._changed:
            return self._dialogue.counts

    @property
    def finished(self) -> str:
        """Why nothing more is asked, e.g. BUDGET_SPENT; empty while queries may come."""
        with self._changed:
            return self._dialogue.finished

    @property
    def per_query_s(self) -> tuple[float, ...]:
        """Seconds from each Answer to the Assign that came next."""
        with self._changed:
            return tuple(self._dialogue.per_query_s)

    def finish(self) -> Session:
        """Stop asking and compute the result from the labels there are."""
        return self._client.finish_session(self.name)

    def result(self, *, timeout_s: float | None = None) -> Result:
        """Return the session's result, waiting until it is there."""
        self._client.wait_until_completed(self.name, timeout_s=timeout_s)
        return self._client.result(self.name)

    def model(self, *, timeout_s: float | None = None) -> SvddModel:
        """Return the fitted model, waiting until it is there."""
        self._client.wait_until_completed(self.name, timeout_s=timeout_s)
        return self._client.model(self.name)

    def wait(self, future: Future[Ack], *, timeout_s: float | None = None) -> Ack:
        """Return the Ack that a submitted answer gets."""
        limit_s = self._ack_timeout_s if timeout_s is None else timeout_s
        try:
            return future.result(limit_s)
        except FutureTimeoutError:
            raise Unavailable(
                f"No acknowledgement from {self._client.address} within {limit_s:g} s. "
                "The answer is kept and sent again when the connection is back",
                reason="ACK_TIMEOUT",
            ) from None

    def _submit_label(self, label: Label) -> Future[Ack]:
        with self._changed:
            self._check_open()
            message, future = self._dialogue.label(
                label.observation_id, label.verdict, label.source_reference
            )
            self._stream.send(message)
        return future

    def _settle(self, future: Future[Ack], acks: list[Ack]) -> SvddtuneError | None:
        try:
            acks.append(self.wait(future))
        except SvddtuneError as error:
            return error
        return None

    def _check_open(self) -> None:
        if self._stream.error is not None:
            raise self._stream.error
        if self._stream.closed:
            raise WrongState(f"The dialogue with {self.name} is closed", reason="CLIENT_CLOSED")

    def _unanswered(self) -> WrongState:
        number, query = next(iter(self._dialogue.held.items()))
        return WrongState(
            f"Query {number} (observation {query.observation_id!r}) is not settled: answer, skip "
            "or release it first, or open the dialogue with a larger credit",
            reason="QUERY_UNANSWERED",
            metadata={"query": str(number), "observation_id": query.observation_id},
        )
