"""The labelling part of a run from data to model, and how far the run is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from svddtune.client.client import TuningClient
from svddtune.client.errors import WrongState
from svddtune.client.oracles import Command, Oracle, reply
from svddtune.client.result import Asked, Timings
from svddtune.client.tuning import Tuning
from svddtune.client.types import (
    LabelCounts,
    LiveEvidence,
    Query,
    Session,
    SessionState,
    SkipMode,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `stage`: starting, uploading, preparing, labeling, estimating, done.

    `live` is what the labels so far say, once the atlas is there.
    """

    stage: str
    budget: int
    counts: LabelCounts = field(default_factory=LabelCounts)
    gamma: float = 0.0
    alignment: float = 0.0
    live: LiveEvidence | None = None


class Run:
    """The labelling part of a run, and the times of all parts."""

    def __init__(
        self, oracle: Oracle, budget: int, initial: int, report: Callable[[Progress], None]
    ) -> None:
        self.asked: list[Asked] = []
        self._oracle = oracle
        self._budget = budget
        self._initial = initial
        self._report = report
        self._marks: list[tuple[str, float]] = []
        self._per_query_s: tuple[float, ...] = ()
        self._done: list[Query] = []

    def enter(self, stage: str) -> None:
        """Note that the next part begins."""
        self._marks.append((stage, time.monotonic()))
        self._report(Progress(stage, self._budget))

    def label(self, client: TuningClient, session: Session, labeler: str, kind: str) -> None:
        """Ask the oracle until the budget is spent or it wants no more."""
        if self._initial >= self._budget:
            return
        # Tickets say what their verdicts rest on. (Somebody's oracle may mean another thing by it.)
        basis = getattr(self._oracle, "basis", "")
        with client.tuning(
            session,
            labeler=labeler,
            kind=kind,
            basis=basis if isinstance(basis, str) else "",
        ) as tuning:
            for query in tuning.queries():
                if self._marks[-1][0] != "labeling":
                    self.enter("labeling")
                    self._tell(tuning)
                if not self._settle(tuning, query):
                    _finish(client, session)
                    break
                self._tell(tuning)
            self._per_query_s = tuning.per_query_s

    def _settle(self, tuning: Tuning, query: Query) -> bool:
        """Have the oracle settle one query; False where it wants to stop."""
        while True:
            answer = reply(self._oracle(query))
            if answer is Command.STOP:
                return False
            if answer is Command.UNDO:
                if not self._redo(tuning):
                    return False
                continue
            if isinstance(answer, SkipMode):
                tuning.skip(query, answer)
                self._note(query, None)
            elif isinstance(answer, Verdict):
                tuning.answer(query, answer)
                self._note(query, answer)
                self._done.append(query)
            return True

    def _redo(self, tuning: Tuning) -> bool:
        """Ask about the last observation again; False where the oracle wants to stop.

        Its answer corrects the last one; without one, that is withdrawn.
        """
        if not self._done:
            return True
        last = self._done.pop()
        while (answer := reply(self._oracle(last))) is Command.UNDO:
            if not self._redo(tuning):
                answer = Command.STOP
                break
        verdict = answer if isinstance(answer, Verdict) else None
        if verdict is not None:
            tuning.label(last.observation_id, verdict, replace=True)
            self._done.append(last)
        else:
            tuning.retract(last.observation_id)
        position = max(i for i, asked in enumerate(self.asked) if asked.number == last.number)
        self.asked[position] = _asked(last, verdict)
        return answer is not Command.STOP

    def _note(self, query: Query, verdict: Verdict | None) -> None:
        self.asked.append(_asked(query, verdict))

    def _tell(self, tuning: Tuning) -> None:
        session = tuning.session
        self._report(
            Progress(
                "labeling",
                self._budget,
                tuning.counts,
                session.gamma,
                session.alignment,
                session.live,
            )
        )

    def timings(self) -> Timings:
        """Return the seconds that each part took."""
        took = dict.fromkeys(("starting", "uploading", "preparing", "labeling", "estimating"), 0.0)
        for (stage, since), (_, until) in zip(self._marks, self._marks[1:], strict=False):
            took[stage] += until - since
        return Timings(
            total=self._marks[-1][1] - self._marks[0][1],
            start=took["starting"],
            upload=took["uploading"],
            prepare=took["preparing"],
            label=took["labeling"],
            estimate=took["estimating"],
            per_query=self._per_query_s,
        )


def _asked(query: Query, verdict: Verdict | None) -> Asked:
    return Asked(query.number, query.observation_id, query.row, verdict, query.why, query.score)


def _finish(client: TuningClient, session: Session) -> None:
    """Finish, unless the session got there by itself in the meantime."""
    try:
        client.finish_session(session)
    except WrongState:
        now = client.get_session(session).state
        if now not in (SessionState.ESTIMATING, SessionState.COMPLETED):
            raise
