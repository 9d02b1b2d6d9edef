"""Simulated labelers of one session, each with its own stream and thread."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from svddtune.client.errors import InvalidInput, SvddtuneError, Unavailable, WrongState
from svddtune.client.oracles.answers import Answer, reply
from svddtune.client.oracles.clock import VirtualClock, WallClock
from svddtune.client.oracles.simulated import SimulatedLabeler
from svddtune.client.types import Judgement, Query, Session, SessionState, SkipMode, Verdict

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.tuning import Tuning

_LOOK_S = 1.0


class SimulatedGroup:
    """Labelers with different names that label a session until nothing more is asked.

    Attributes
    ----------
    ended_s : float
        Time of the last answer that counted, in seconds since the first query.
    stalled : bool
        Whether the session waited for votes that no labeler could give, and was finished early.

    Parameters
    ----------
    labelers : sequence of SimulatedLabeler
        At least one; their delays pass on the group's clock.
    real_time : bool
        Whether delays take real time. Default False: virtual time advances at once while all
        labelers wait or think.
    """

    def __init__(self, labelers: Sequence[SimulatedLabeler], *, real_time: bool = False) -> None:
        names = [labeler.name for labeler in labelers]
        if not names or len(set(names)) < len(names):
            raise InvalidInput(
                f"Give at least one labeler, and each a different name; the names "
                f"are: {', '.join(names) or 'none'}"
            )
        self.ended_s = 0.0
        self.stalled = False
        self._labelers = list(labelers)
        self._real_time = real_time
        self._lock = threading.Lock()
        self._stopped = False
        self._error: Exception | None = None
        self._open: list[Tuning] = []
        # The query of each labeler.
        self._held: dict[int, tuple[Tuning, Query]] = {}
        # By observation: the labelers who voted or passed on; and the observations with a vote.
        self._seen: defaultdict[str, set[int]] = defaultdict(set)
        self._voted: set[str] = set()

    def label(
        self,
        client: TuningClient,
        session: Session,
        *,
        on_answer: Callable[[Tuning], None] = lambda _: None,
    ) -> None:
        """Label `session` to its end; `on_answer` is called after each answer, one call at a time.

        Raises
        ------
        Exception
            The first one that ended a labeler's dialogue.
        """
        count, settled = len(self._labelers), partial(self._settled, client, session)
        self._clock = WallClock(count) if self._real_time else VirtualClock(count, settled=settled)
        threads = [
            threading.Thread(
                target=self._serve,
                args=(i, client, session, on_answer),
                name=f"svddtune-{labeler.name}",
                daemon=True,
            )
            for i, labeler in enumerate(self._labelers)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._stop()
            for thread in threads:
                thread.join()
        if self._error is not None:
            raise self._error

    def _serve(
        self, i: int, client: TuningClient, session: Session, on_answer: Callable[[Tuning], None]
    ) -> None:
        labeler = self._labelers[i]
        labeler.sleep = partial(self._clock.sleep, i)
        try:
            # One after the other, so that every run starts in the same order.
            self._clock.sleep(i, 0.0)
            tags = session.config.required_tags
            with client.tuning(session, labeler=labeler.name, kind="human", tags=tags) as tuning:
                with self._lock:
                    self._open.append(tuning)
                while (query := self._next(i, tuning, client, session)) is not None:
                    with self._lock:
                        self._held[i] = tuning, query
                    answer = reply(labeler(query))
                    with self._lock:
                        del self._held[i]
                    self._settle(i, tuning, query, answer)
                    with self._lock:
                        on_answer(tuning)
        except Exception as error:
            with self._lock:
                if not self._stopped:  # later errors follow from the first
                    self._error = self._error or error
            self._stop()
        finally:
            self._clock.leave(i)

    def _stop(self) -> None:
        """End all dialogues, after an error or an interrupt."""
        with self._lock:
            self._stopped = True
            dialogues = list(self._open)
        self._clock.stop()
        for tuning in dialogues:
            tuning.close()

    def _next(self, i: int, tuning: Tuning, client: TuningClient, session: Session) -> Query | None:
        with self._clock.waiting(i):
            while not self._stopped:
                try:
                    return tuning.next_query(timeout_s=_LOOK_S)
                except Unavailable as error:
                    if error.reason != "WAIT_TIMEOUT":
                        raise
                    self._finish_if_stalled(client, session)
            return None

    def _settle(self, i: int, tuning: Tuning, query: Query, answer: Answer) -> None:
        if answer is SkipMode.OTHERS and self._nobody_left(i, query):
            answer = SkipMode.DROP
        if not tuning.is_open(query):
            return  # the session ended, or somebody else's answer was enough
        try:
            if isinstance(answer, SkipMode):
                tuning.skip(query, answer)
            elif isinstance(answer, Verdict | Judgement) and tuning.answer(query, answer).applied:
                with self._lock:
                    self.ended_s = max(self.ended_s, self._clock.now)
                    self._seen[query.observation_id].add(i)
                    self._voted.add(query.observation_id)
        except SvddtuneError:
            if self._stopped or tuning.is_open(query):
                raise

    def _nobody_left(self, i: int, query: Query) -> bool:
        """Note that a labeler passes on a query; return whether all have done so."""
        with self._lock:
            seen = self._seen[query.observation_id]
            seen.add(i)
            return len(seen) == len(self._labelers) and query.observation_id not in self._voted

    def _finish_if_stalled(self, client: TuningClient, session: Session) -> None:
        if not (self._clock.all_wait and self._settled(client, session)):
            return
        with self._lock:
            if self.stalled or client.get_session(session).state is not SessionState.LABELING:
                return
            self.stalled = True
            with contextlib.suppress(WrongState):  # another labeler ended it just now
                client.finish_session(session)

    def _settled(self, client: TuningClient, session: Session) -> bool:
        """Whether labelers that wait get no query before another labeler acts."""
        now = client.get_session(session)
        with self._lock:
            held = sum(tuning.is_open(query) for tuning, query in self._held.values())
        settled = now.state is not SessionState.PREPARING and not now.ranking_pending
        # A query beyond those that labelers are at is on its way to one that waits. A labeler that
        # the session does not count as waiting has not been heard yet.
        return settled and now.leased_count <= held and now.waiting_count >= self._clock.waiters
