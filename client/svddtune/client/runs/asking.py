"""The labelling part of a run from data to model, and the run's progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from svddtune.client.client import TuningClient
from svddtune.client.errors import Unavailable, WrongState
from svddtune.client.oracles import Command, Oracle, SessionOracle, reply, verdict_of
from svddtune.client.result import Asked, Timings
from svddtune.client.runs.waiting import LOOK_S, Waits, follow
from svddtune.client.shown import Shown
from svddtune.client.tuning import Tuning
from svddtune.client.types import (
    DetectorComparison,
    LabelCounts,
    LabelEvent,
    LiveEvidence,
    Query,
    Session,
    SessionState,
    SkipMode,
    Verdict,
)


@dataclass(frozen=True, slots=True, repr=False)
class Progress(Shown):
    """The progress of a run.

    Attributes
    ----------
    stage : str
        starting, uploading, preparing, labeling, waiting, estimating or done. While "waiting"
        nothing can be asked, and `waiting` says in a sentence why and what to do.
    counts : LabelCounts
        Labels in force, of `budget`.
    share : float
        Share of the atlas that is fitted, in [0, 1]; while "preparing".
    awaiting_votes : int
        Labelled observations on which votes of further labelers are awaited.
    gamma, scaling : float, str
        The best gamma so far and the representation that it belongs to.
    live : LiveEvidence or None
        The evidence of the labels so far, once the atlas is fitted.
    detectors : DetectorComparison or None
        The tuned SVDD and the refined detector on held-out labels, of a few labels ago or of now.
    """

    stage: str
    budget: int
    counts: LabelCounts = field(default_factory=LabelCounts)
    gamma: float = 0.0
    alignment: float = 0.0
    live: LiveEvidence | None = None
    share: float = 0.0
    awaiting_votes: int = 0
    waiting: str = ""
    scaling: str = ""
    detectors: DetectorComparison | None = None


class Run:
    """The labelling part of a run, and the times of all parts.

    Attributes
    ----------
    asked : list of Asked
        The queries so far and their outcomes, those before a resumption included.
    labels : dict of str to Verdict
        The oracle's answers in force, by observation id.
    answered_any : bool
        Whether an answer may be stored.
    budget : int
        Labels to use, as progress shows it.
    """

    def __init__(
        self,
        oracle: Oracle,
        budget: int,
        report: Callable[[Progress], None],
        answered: Callable[[int], None] = lambda _: None,
        wait_for_labelers_s: float | None = None,
    ) -> None:
        self.asked: list[Asked] = []
        self.labels: dict[str, Verdict] = {}
        self.answered_any = False
        self.budget = budget
        self._oracle = oracle
        self._report = report
        self._answered = answered
        self._wait_for_labelers_s = wait_for_labelers_s
        self._marks: list[tuple[str, float]] = []
        self._per_query_s: tuple[float, ...] = ()
        self._done: list[Query] = []

    def enter(self, stage: str) -> None:
        """Record the start of the next part."""
        self._marks.append((stage, time.monotonic()))
        self._report(Progress(stage, self.budget))

    def wait(self, client: TuningClient, session: Session) -> Session:
        """Return the session once its result is computed."""
        now = client.get_session(session)
        follow(client, now, SessionState.ESTIMATING, self._watched("estimating"))
        return client.wait_until_completed(session)

    def recall(self, events: Iterable[LabelEvent], labeler: str) -> None:
        """Restore earlier queries and answers from the label log."""
        for event in events:
            # (A vote of another session may have the same labeler.)
            if event.labeler != labeler or event.origin:
                continue
            if event.kind == "labeled" and event.verdict is not None:
                self.labels[event.observation_id] = event.verdict
                self.asked = [one for one in self.asked if one.row != event.row]
                self.asked.append(
                    Asked(event.query, event.observation_id, event.row, event.verdict, "", math.nan)
                )
            elif event.kind == "retracted":
                self.labels.pop(event.observation_id, None)
                self.asked = [one for one in self.asked if one.row != event.row]

    def label(
        self, client: TuningClient, session: Session, labeler: str, kind: str, token: str = ""
    ) -> None:
        """Ask the oracle until the budget is spent or the oracle stops."""
        follow(client, session, SessionState.PREPARING, self._watched("preparing"))
        if isinstance(self._oracle, SessionOracle):
            self._leave_to(self._oracle, client, session, labeler, token)
            return
        # Of a ticket oracle only: other oracles may use the name `provenance` for something else.
        provenance = getattr(self._oracle, "provenance", "")
        with client.tuning(
            session,
            labeler=labeler,
            kind=kind,
            provenance=provenance if isinstance(provenance, str) else "",
            resume_token=token,
            # Whoever asks for tags and answers alone is the one who has them.
            tags=session.config.required_tags,
        ) as tuning:
            while (query := self._next(client, tuning)) is not None:
                if self._marks[-1][0] != "labeling":
                    self._marks.append(("labeling", time.monotonic()))
                    self._tell(tuning)
                if not self._settle(tuning, query):
                    _finish(client, session)
                    break
                self._tell(tuning)
            self._per_query_s = tuning.per_query_s

    def _leave_to(
        self,
        oracle: SessionOracle,
        client: TuningClient,
        session: Session,
        labeler: str,
        token: str,
    ) -> None:
        """Let an oracle hold the dialogue; read its answers from the label log afterwards."""
        self.enter("labeling")
        # Until the log is read an answer may be stored.
        self.answered_any = True
        try:
            wish = oracle.label_session(client, session, labeler=labeler, resume_token=token)
        finally:
            self.recall(client.labels(session), labeler)
            self._answered(len(self.labels))
            self.answered_any = bool(self.labels)
        if wish is Command.STOP:
            _finish(client, session)

    def _next(self, client: TuningClient, tuning: Tuning) -> Query | None:
        """Return the next query; report meanwhile why none comes."""
        waits = Waits(client, tuning, self._wait_for_labelers_s)
        while True:
            try:
                return tuning.next_query(timeout_s=LOOK_S)
            except Unavailable as error:
                if error.reason != "WAIT_TIMEOUT":
                    raise
            if (found := waits.look()) is not None:
                self._report(self._progress("waiting", found.session, found.sentence))
                if found.over:
                    _finish(client, found.session)

    def _settle(self, tuning: Tuning, query: Query) -> bool:
        """Let the oracle settle one query; return False where it stops."""
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
            elif (verdict := verdict_of(answer)) is not None:
                self.answered_any = True
                tuning.answer(query, answer)
                self._note(query, verdict)
                self._done.append(query)
                self._label(query, verdict)
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
        verdict = verdict_of(answer)
        if verdict is not None:
            tuning.label(last.observation_id, answer, replace=True)
            self._done.append(last)
        else:
            tuning.retract(last.observation_id)
        self._label(last, verdict)
        position = max(i for i, asked in enumerate(self.asked) if asked.number == last.number)
        self.asked[position] = _asked(last, verdict)
        return answer is not Command.STOP

    def _label(self, query: Query, verdict: Verdict | None) -> None:
        if verdict is None:
            self.labels.pop(query.observation_id, None)
        else:
            self.labels[query.observation_id] = verdict
        self._answered(len(self.labels))

    def _note(self, query: Query, verdict: Verdict | None) -> None:
        self.asked.append(_asked(query, verdict))

    def _tell(self, tuning: Tuning) -> None:
        session = replace(tuning.session, counts=tuning.counts)
        self._report(self._progress("labeling", session))

    def _watched(self, stage: str) -> Callable[[Session, str], None]:
        def report(session: Session, sentence: str) -> None:
            self._report(self._progress(stage, session, sentence))

        return report

    def _progress(self, stage: str, session: Session, waiting: str = "") -> Progress:
        return Progress(
            stage,
            self.budget,
            session.counts,
            session.gamma,
            session.alignment,
            session.live,
            session.atlas_progress,
            session.awaiting_votes,
            waiting,
            session.scaling,
            session.detectors,
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
    """Finish the session, unless it has finished by itself in the meantime."""
    try:
        client.finish_session(session)
    except WrongState:
        now = client.get_session(session).state
        if now not in (SessionState.ESTIMATING, SessionState.COMPLETED):
            raise
