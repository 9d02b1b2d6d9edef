"""A tuning run from data to model in one call."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from svddtune.client.client import TuningClient
from svddtune.client.embedded import EmbeddedStack
from svddtune.client.errors import InvalidInput, WrongState
from svddtune.client.initial import initial_labels
from svddtune.client.oracles import Command, KnownLabels, Oracle, reply
from svddtune.client.result import Asked, Timings, TuningResult
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
from svddtune.client.validate import check_matrix

DEFAULT_BUDGET = 50


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


def tune(
    X: Any,
    oracle: object,
    *,
    budget: int | None = None,
    strategy: str = "default",
    k: int = 5,
    seed: int = 0,
    initial: object = None,
    server: str | None = None,
    tls_ca: str | os.PathLike[str] | None = None,
    workers: int = 2,
    ids: Sequence[object] | None = None,
    feature_names: Sequence[str] | None = None,
    display: Sequence[Mapping[str, object]] | None = None,
    scaling: str = "none",
    metric: str = "kappa",
    c_cells: int = 20,
    audit: int = 0,
    auto_finish: bool = False,
    name: str = "",
    labeler: str = "",
    human: bool = False,
    lease_s: float = 0.0,
    on_progress: Callable[[Progress], None] | None = None,
) -> TuningResult:
    """Tune gamma and C of an SVDD on `X` by asking `oracle` about the right observations.

    Parameters
    ----------
    X : array-like (N, M)
        Finite numbers.
    oracle : callable, array (N,) or mapping
        A callable takes a `Query` and returns a verdict ("inlier" or +1, "outlier" or -1,
        "unsure"), a `SkipMode` or a `Command`. An array holds +1, -1 or 0 (not known) by row; a
        mapping verdicts by observation id.
    budget : int, optional
        Labels to use, the initial ones included; default 50, or N where that is fewer.
    initial : mapping or (inliers, outliers), optional
        Labels to start with, by observation id; or how many to draw from known labels. Default
        (2, 2) with known labels, else none.
    strategy : str
        How queries are chosen: "knowledge_gradient" (the service's default), "disagreement",
        "lama" (exactly the paper's method) or "random".
    audit : int
        Observations, part of the budget, that are drawn uniformly and kept out of tuning: they give
        an unbiased score.
    auto_finish : bool
        Stop before the budget is spent once more labels gain little.
    server : str, optional
        HOST:PORT of a service; default an embedded one for the time of the call.
    tls_ca : path, optional
        Certificates (PEM) to trust; the connection to `server` is then encrypted.
    ids : sequence of N, optional
        Observation ids; default the row numbers.
    """
    names = [str(feature) for feature in feature_names] if feature_names is not None else []
    rows = check_matrix(X, names)
    given_ids = range(len(rows)) if ids is None else ids
    observation_ids = [str(item) for item in given_ids]
    if len(observation_ids) != len(rows):
        raise InvalidInput(f"ids has {len(observation_ids)} entries, X has {len(rows)} rows")
    ask = oracle if callable(oracle) else KnownLabels(oracle)
    start_labels = initial_labels(initial, ask, observation_ids, seed=seed)
    limit = _checked_budget(budget, len(rows), len(start_labels))
    if isinstance(ask, KnownLabels):
        known = ask.verdicts(observation_ids)
        row_of = {observation_id: row for row, observation_id in enumerate(observation_ids)}
        for observation_id in start_labels:
            if row_of.get(observation_id) in known:
                ask.given(observation_id, row_of[observation_id])
    run = _Run(ask, limit, len(start_labels), on_progress or (lambda _: None))
    with contextlib.ExitStack() as stack:
        run.enter("starting")
        embedded = stack.enter_context(EmbeddedStack(workers)) if server is None else None
        address = server or (embedded and embedded.address) or ""
        client = stack.enter_context(
            TuningClient(address, tls_ca=tls_ca if server is not None else None)
        )
        run.enter("uploading")
        dataset = client.upload_dataset(
            rows,
            name=name,
            observation_ids=observation_ids if ids is not None else None,
            feature_names=names,
            display=display,
            scaling=scaling,
        )
        run.enter("preparing")
        session = client.create_session(
            dataset,
            initial_labels=start_labels,
            name=name,
            k=min(k, len(rows)) if k > 0 else k,
            budget=limit,
            strategy=strategy,
            seed=seed,
            metric=metric,
            c_cells=c_cells,
            audit=audit,
            auto_finish=auto_finish,
            lease_s=lease_s,
        )
        kind = "human" if human else "automated"
        run.label(client, session, labeler, kind)
        run.enter("estimating")
        session = client.wait_until_completed(session)
        result = client.result(session)
        model = client.model(session)
        run.enter("done")
    versions = {"svddtune": metadata.version("svddtune"), **(embedded.versions if embedded else {})}
    return TuningResult(
        result=result,
        model=model,
        dataset=dataset,
        session=session,
        initial=start_labels,
        asked=tuple(run.asked),
        timings=run.timings(),
        versions={**versions, **result.manifest.versions},
    )


def _checked_budget(budget: int | None, n: int, initial: int) -> int:
    limit = min(DEFAULT_BUDGET, n) if budget is None else budget
    if limit > n:
        raise InvalidInput(
            f"A budget of {limit} labels is more than the {n} rows there are",
            reason="BUDGET_TOO_LARGE",
            metadata={"budget": str(limit), "observations": str(n)},
        )
    if limit < max(initial, 1):
        raise InvalidInput(
            f"A budget of {limit} labels is less than the {initial} initial ones",
            reason="BUDGET_TOO_SMALL",
            metadata={"budget": str(limit), "labels": str(initial)},
        )
    return limit


class _Run:
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
        with client.tuning(session, labeler=labeler, kind=kind) as tuning:
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
