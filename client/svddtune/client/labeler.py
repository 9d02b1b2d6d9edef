"""What a labeler can do in a dialogue, whatever carries it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Protocol

from svddtune.client.errors import SvddtuneError
from svddtune.client.types import Ack, Label, LabelCounts, Query, Session, SkipMode, Verdict

# Labels sent ahead of their Acks.
_WINDOW = 256


class Labeler(Protocol):
    """Takes queries and gives answers: `Tuning` over a stream, `UnaryTuning` over single calls.

    Both are thread-safe. Where a dialogue serves several sessions, `session` says which one an
    unasked label or a retraction is about; with one session it may be left out.
    """

    labeler: str

    # State

    @property
    def connected(self) -> bool:
        """False while the server is away; what is said meanwhile is kept and sent later."""
        ...

    @property
    def session(self) -> Session:
        """The one session served, as last heard of; waits for the first word of it."""
        ...

    @property
    def sessions(self) -> Mapping[str, Session]:
        """All sessions heard of, by name, as last heard of; does not wait."""
        ...

    @property
    def counts(self) -> LabelCounts:
        """Labels per class in the session heard of last."""
        ...

    @property
    def finished(self) -> str:
        """Why nothing more is asked, e.g. BUDGET_SPENT; empty while queries may come."""
        ...

    @property
    def per_query_s(self) -> tuple[float, ...]:
        """Seconds from each answer to the query that came next."""
        ...

    def is_open(self, query: Query) -> bool:
        """Return whether `query` still waits for this labeler's answer."""
        ...

    def lost_reason(self, query: Query) -> str:
        """Return why `query` went: EXPIRED, ANSWERED_BY_OTHER, SESSION_ENDED, or "" for unknown."""
        ...

    # Asked

    def next_query(self, *, timeout_s: float | None = None) -> Query | None:
        """Return the next query, None where nothing more will be asked."""
        ...

    def submit(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Future[Ack]:
        """Answer `query` without waiting; the future has the Ack, or the error."""
        ...

    def skip(self, query: Query, mode: SkipMode | str = SkipMode.LATER) -> Ack:
        """Do not answer `query`: ask me "later", ask "others", or "drop" the observation."""
        ...

    def release(self, query: Query) -> None:
        """Give `query` back to the front of the queue."""
        ...

    # Unasked

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
        """Label an observation unasked without waiting; `replace` corrects one's own vote."""
        ...

    def retract(
        self,
        observation_id: str,
        *,
        answer_id: str = "",
        of_labeler: str = "",
        session: str = "",
    ) -> Ack:
        """Withdraw a vote; its query is open again."""
        ...

    def wait(self, future: Future[Ack], *, timeout_s: float | None = None) -> Ack:
        """Return the Ack that something submitted gets."""
        ...

    def close(self) -> None:
        """End the dialogue; queries that were not answered go back to the queue."""
        ...

    # The same for both

    def queries(self) -> Iterator[Query]:
        """Yield queries until nothing more is asked; waits where the next is not ready."""
        while (query := self.next_query()) is not None:
            yield query

    def answer(
        self, query: Query, verdict: object, *, source_reference: str = "", answer_id: str = ""
    ) -> Ack:
        """Answer `query` with "inlier" (+1), "outlier" (-1) or "unsure"; return once stored."""
        return self.wait(
            self.submit(query, verdict, source_reference=source_reference, answer_id=answer_id)
        )

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
        """Label an observation that nobody asked about, or correct one's own vote on it."""
        future = self.submit_label(
            observation_id,
            verdict,
            source_reference=source_reference,
            answer_id=answer_id,
            replace=replace,
            session=session,
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
            waiting.append(
                self.submit_label(
                    label.observation_id, label.verdict, source_reference=label.source_reference
                )
            )
            if len(waiting) >= _WINDOW:
                first = first or _settle(self, waiting.popleft(), acks)
        while waiting:
            first = first or _settle(self, waiting.popleft(), acks)
        if first is not None:
            raise first
        return acks


def _settle(labeler: Labeler, future: Future[Ack], acks: list[Ack]) -> SvddtuneError | None:
    try:
        acks.append(labeler.wait(future))
    except SvddtuneError as error:
        return error
    return None
