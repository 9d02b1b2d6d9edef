"""What a session must do, by the contract in ``protos/svddtune/v1/``: plain values, no Redis.

The model says what each call has to answer, and which votes, labels, queries and leases are left
after it. Which of several waiting labelers gets which query it does not foresee: it is told of each
lease that was given, and says whether it was right to give it (``checks.py``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.properties.ballot import Ballot, Effect, Query, Rules, Vote

APPLIED, UNUSED = "APPLIED", "UNUSED"
_TAKES_LABELS = frozenset({"PREPARING", "LABELING", "PAUSED"})
_NO_VOTES = frozenset({"UNUSED", "REPEATED"})


@dataclass
class Memory:
    """What is remembered of a labeler: leased answers since it was last shown an observation again,
    and what may be shown again.
    """

    since: int = 0
    repeatable: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Waiter:
    """A holder that gets queries as soon as there are any, or (``notify_only``) is told of them."""

    holder: str
    labeler: str
    most: int
    notify_only: bool = False


class Refusal(Exception):
    """The call is refused, for the reason that is its text."""


class Model(Ballot):
    """One session."""

    def __init__(
        self, rules: Rules, rows: int, budget: int, initial: Mapping[int, int] | None = None
    ) -> None:
        super().__init__(rules)
        self.rows, self.budget = rows, budget
        self.state, self.reason = "LABELING", ""
        self.memories: dict[str, Memory] = {}
        self.waiting: dict[str, Waiter] = {}
        # Leases that were skipped, by whom and how; those that were given back, by which holder.
        self.skipped: dict[str, tuple[str, str]] = {}
        self.given_back: dict[str, str] = {}
        # Leases that have run out but that nobody has ended yet.
        self.overdue: set[str] = set()
        # (kind, row, verdict, labeler, query)
        self.log: list[tuple[str, int, int, str, int]] = []
        # The ranking in force; None once votes have changed.
        self.ranking: list[int] | None = None
        self.exhausted = self.outrun = False
        for row, verdict in (initial or {}).items():
            self.votes[row] = {"initial": Vote(verdict, 0)}
            self._log("LABELED", row, verdict, "initial", 0)
        self._advance()

    def nothing_new(self) -> bool:
        """No further observation is to be asked about, for now."""
        outstanding = len(self.open_queries()) - len(self.awaiting())
        return self.exhausted or self.total() + outstanding >= self.budget

    # What labelers do

    def answer(
        self,
        labeler: str,
        verdict: int,
        *,
        query: int = 0,
        lease_id: str = "",
        row: int = -1,
        replace: bool = False,
        then: Waiter | None = None,
    ) -> str:
        """A verdict with a new answer id: APPLIED or UNUSED. Raises Refusal."""
        asked = self.queries[query] if query else None
        row = asked.row if asked else row
        if labeler in self.void:
            raise Refusal("LABELER_WITHDRAWN")
        leased = asked is not None and lease_id in asked.leases
        refusal = self._unfit(labeler, row, asked, leased=leased, replace=replace)
        if refusal and not asked:
            raise Refusal(refusal)
        if refusal:
            self._log("UNUSED", row, verdict, labeler, query)
            return UNUSED
        memory = self.memories.setdefault(labeler, Memory())
        if asked and asked.repeats:
            self.end_lease(lease_id)
            self._log("REPEATED", row, verdict, labeler, query)
        else:
            about = self.query_on(row, query)
            vote = Vote(verdict, self.number_on(row, query))
            self.votes.setdefault(row, {})[labeler] = vote
            self._log("LABELED", row, verdict, labeler, query)
            if leased:
                memory.since += 1
                memory.repeatable.append(row)
            for one, (on, lease) in self.leases().items():
                if on.row == row and not on.repeats and lease.labeler == labeler:
                    self.end_lease(one)
            self._settle(about)
        self._wait(then)
        self._advance()
        return APPLIED

    def _unfit(
        self, labeler: str, row: int, asked: Query | None, *, leased: bool, replace: bool
    ) -> str:
        """Why an answer does not count; empty where it does."""
        if self.state not in _TAKES_LABELS:
            return "SESSION_NOT_ACTIVE"
        if asked and asked.repeats:
            return "" if leased else "TOO_LATE"
        label, own = self.labels().get(row), labeler in self.votes.get(row, {})
        open_rows = {one.row for one in self.open_queries()}
        fits = replace or label == 0 if own else not label or row in open_rows
        return "" if fits else "ALREADY_ANSWERED"

    def retract(self, labeler: str, row: int) -> str:
        """Take a vote back. Raises Refusal."""
        if self.state not in _TAKES_LABELS:
            raise Refusal("SESSION_NOT_ACTIVE")
        vote = self.votes.get(row, {}).get(labeler)
        if vote is None:
            raise Refusal("NOT_LABELED")
        about = self.query_on(row)
        del self.votes[row][labeler]
        self._end_repeats(row, labeler)
        self._log("RETRACTED", row, vote.verdict, labeler, vote.query)
        self._settle(about)
        self._advance()
        return APPLIED

    def skip(
        self, labeler: str, query: int, lease_id: str, mode: str, then: Waiter | None = None
    ) -> str:
        """Pass on a query. Raises Refusal."""
        self.reap()
        lease = self.queries[query].leases.get(lease_id)
        if lease is None and self.skipped.get(lease_id) == (labeler, mode):
            return APPLIED
        if lease is None or lease.labeler != labeler:
            raise Refusal("LEASE_LOST")
        self.skipped[lease_id] = labeler, mode
        one = self.end_lease(lease_id)
        if mode == "OTHERS":
            one.passed_on.add(labeler)
        elif mode == "DROP" and not one.repeats:
            self.dropped.add(one.row)
            self._close(one)
            self._end_repeats(one.row)
        self._wait(then)
        self._advance()
        return APPLIED

    def extend(self, holder: str, lease_ids: Iterable[str]) -> set[str]:
        """A heartbeat: those named that are lost."""
        self.reap()
        return set(lease_ids) - set(self.held(holder))

    def release(self, holder: str, lease_ids: Iterable[str]) -> set[str]:
        """Give back those named, or all and wait for none: those named that are lost."""
        self.reap()
        named, held = set(lease_ids), set(self.held(holder))
        if not named:
            self.waiting.pop(holder, None)
        for lease_id in held & (named or held):
            self.end_lease(lease_id)
            self.given_back[lease_id] = holder
        self._advance()
        repeated = {one for one in named if self.given_back.get(one) == holder}
        return named - held - repeated

    def ask(self, waiter: Waiter) -> bool:
        """It waits for queries, at least until it gets what there is; whether it is withdrawn."""
        self.reap()
        if len(self.held(waiter.holder)) < waiter.most:
            self.waiting[waiter.holder] = waiter
        else:
            self.waiting.pop(waiter.holder, None)
        self._advance()
        return waiter.labeler in self.void

    def park(self, holder: str) -> None:
        """It keeps its leases and gets nothing new."""
        self.waiting.pop(holder, None)

    def _wait(self, waiter: Waiter | None) -> None:
        if waiter and self.state == "LABELING" and len(self.held(waiter.holder)) < waiter.most:
            self.waiting[waiter.holder] = waiter

    def reap(self) -> None:
        """Leases that have run out end; their holders get nothing new until they ask."""
        for lease_id in list(self.overdue):
            self.waiting.pop(self.leases()[lease_id][1].holder, None)
            self.end_lease(lease_id)
        self._advance()

    def end_lease(self, lease_id: str) -> Query:
        """It is over. What was shown again is asked of nobody else."""
        query, _ = self.leases()[lease_id]
        del query.leases[lease_id]
        self.overdue.discard(lease_id)
        query.open = query.open and not query.repeats
        return query

    # What the owner does

    def pause(self) -> None:
        """Stop asking. Raises Refusal."""
        if self.state not in ("LABELING", "PAUSED"):
            raise Refusal("ILLEGAL_TRANSITION")
        self.state = "PAUSED"
        self._advance()

    def resume(self) -> None:
        """Go on asking. Raises Refusal."""
        if self.state in ("COMPLETED", "FAILED"):
            if self.total() >= self.budget:
                raise Refusal("BUDGET_SPENT")
            self.ranking, self.exhausted, self.reason = None, False, ""
        elif self.state not in ("PAUSED", "LABELING"):
            raise Refusal("ILLEGAL_TRANSITION")
        self.state = "LABELING"
        self._advance()

    def finish(self) -> None:
        """Compute the result from what there is. Raises Refusal."""
        if self.state in ("LABELING", "PAUSED"):
            self._end("ESTIMATING", "FINISHED")
        elif self.state not in ("ESTIMATING", "COMPLETED"):
            raise Refusal("ILLEGAL_TRANSITION")

    def set_budget(self, budget: int) -> None:
        """Raises Refusal."""
        if self.state == "ESTIMATING":
            raise Refusal("SESSION_NOT_ACTIVE")
        if budget > self.rows:
            raise Refusal("BUDGET_TOO_LARGE")
        if budget < self.total():
            raise Refusal("BUDGET_TOO_SMALL")
        self.budget = budget
        self._advance()

    def effect(self, labeler: str, void: bool) -> Effect:
        """What ``withdraw`` would do. Raises Refusal."""
        if self.state in ("ESTIMATING", "FAILED"):
            raise Refusal("SESSION_NOT_ACTIVE")
        if not self.rows_of(labeler) and labeler not in self.memories:
            raise Refusal("UNKNOWN_LABELER")
        return self.voiding(labeler, void)

    def withdraw(self, labeler: str, void: bool) -> Effect:
        """Make all votes of a labeler void, or let them count again. Raises Refusal."""
        effect = self.effect(labeler, void)
        if (labeler in self.void) != void:
            queries = [self.query_on(row) for row in self.rows_of(labeler)]
            self.void ^= {labeler}
            self._log("WITHDRAWN" if void else "REINSTATED", 0, 0, labeler, 0)
            for lease_id, (_, lease) in self.leases().items():
                if lease.labeler in self.void:
                    self.end_lease(lease_id)
            for query in queries:
                self._settle(query)
            self._advance()
        return effect

    # What workers do

    def rank(self, rows: list[int], log_length: int) -> bool:
        """A ranking made when the log had so many events is offered: whether it is taken."""
        fresh = all(kind in _NO_VOTES for kind, *_ in self.log[log_length:])
        at_work = {lease.holder for _, lease in self.leases().values()}
        at_work |= {one.holder for one in self.waiting.values() if one.labeler not in self.void}
        asks = self.state in ("LABELING", "PAUSED")
        taken = asks and (fresh or (self.outrun and len(at_work) > 1))
        self.outrun = not taken
        if taken:
            self.ranking, self.exhausted = rows, fresh and not rows
        self._advance()
        return taken

    def fail(self) -> None:
        """A job could not be done."""
        self._end("FAILED", "FAILED")

    # What follows

    def _advance(self) -> None:
        """The session ends where its budget is spent or nothing is left to ask."""
        if self.state not in ("LABELING", "PAUSED"):
            return
        if self.total() >= self.budget and not self.awaiting():
            self._end("ESTIMATING", "BUDGET_SPENT")
        elif self.state == "LABELING" and self.exhausted and not self.open_queries():
            self._end("ESTIMATING", "POOL_EXHAUSTED")

    def _log(self, kind: str, row: int, verdict: int, labeler: str, query: int) -> None:
        self.log.append((kind, row, verdict, labeler, query))
        if kind not in _NO_VOTES:
            self.ranking, self.exhausted = None, False

    def _settle(self, query: Query | None) -> None:
        """Votes on its row have changed: it is open, or done."""
        if query is None:
            return
        _, wanted, given = self.judge(query.row, query)
        if given < wanted:
            query.open = True
        else:
            self._close(query)

    def _close(self, query: Query) -> None:
        query.open = False
        for lease_id in list(query.leases):
            self.end_lease(lease_id)

    def _end_repeats(self, row: int, labeler: str = "") -> None:
        """Nobody, or not this labeler, is shown the row again."""
        for lease_id, (query, lease) in self.leases().items():
            if query.repeats and query.row == row and labeler in ("", lease.labeler):
                self.end_lease(lease_id)

    def _end(self, state: str, reason: str) -> None:
        for query in self.queries.values():
            self._close(query)
        self.state, self.reason, self.ranking = state, reason, None
