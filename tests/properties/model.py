"""A model of a session by the contract in ``protos/svddtune/v1/``: plain values, no Redis.

The model predicts the reply to each call, and the votes, labels, queries and leases after it. It
does not predict which of several waiting holders gets which query. ``checks.py`` tells it of each
new lease and checks that the lease was allowed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.properties.ballot import Ballot, Effect, Query, Rules, Vote
from tests.properties.controls import UNSURE, Controls

APPLIED, UNUSED = "APPLIED", "UNUSED"
_TAKES_LABELS = frozenset({"PREPARING", "LABELING", "PAUSED"})
_NO_VOTES = frozenset({"UNUSED", "REPEATED", "CHECKED"})


@dataclass
class RepeatState:
    """A labeler's leased answers since its last repeat, and the rows that may be repeated."""

    since: int = 0
    repeatable: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Waiter:
    """A holder that waits for queries: to get leases or, with ``notify_only``, to be notified."""

    holder: str
    labeler: str
    most: int
    notify_only: bool = False


class Refusal(Exception):
    """The call is refused. The text is the reason."""


class Model(Ballot):
    """The model of one session."""

    def __init__(
        self,
        rules: Rules,
        rows: int,
        budget: int,
        initial: Mapping[int, int] | None = None,
        controls: Controls | None = None,
    ) -> None:
        super().__init__(rules)
        self.controls = controls or Controls()
        # Nobody is asked about control items for their votes.
        self.dropped |= self.controls.truth.keys()
        self.rows, self.budget = rows, budget
        self.state, self.reason = "LABELING", ""
        self.repeat_states: dict[str, RepeatState] = {}
        self.waiting: dict[str, Waiter] = {}
        # Skipped leases with labeler and mode; released leases with their holder.
        self.skipped: dict[str, tuple[str, str]] = {}
        self.given_back: dict[str, str] = {}
        # Leases that have expired and that no service has ended yet.
        self.overdue: set[str] = set()
        # (kind, row, verdict, labeler, query)
        self.log: list[tuple[str, int, int, str, int]] = []
        # The current ranking; None once votes have changed.
        self.ranking: list[int] | None = None
        self.exhausted = self.outrun = False
        for row, verdict in (initial or {}).items():
            self.votes[row] = {"initial": Vote(verdict, 0)}
            self._log("LABELED", row, verdict, "initial", 0)
        self._advance()

    def nothing_new(self) -> bool:
        """Whether no new query may be created now."""
        outstanding = len(self.open_queries()) - len(self.awaiting())
        return self.exhausted or self.total() + outstanding >= self.budget

    # Calls of labelers

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
        """Answer with a new answer id: APPLIED or UNUSED. Raises Refusal."""
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
        repeats = self.repeat_states.setdefault(labeler, RepeatState())
        if asked and asked.repeats:
            self.end_lease(lease_id)
            if asked.control:
                self._check(row, verdict, labeler, query)
            else:
                self._log("REPEATED", row, verdict, labeler, query)
        elif row in self.controls.truth:
            self._check(row, verdict, labeler, 0)
        else:
            about = self.query_on(row, query)
            own = self.votes.get(row, {}).get(labeler)
            decides = self._decides(labeler, row) or (own is not None and own.decides)
            vote = Vote(verdict, self.number_on(row, query), decides)
            self.votes.setdefault(row, {})[labeler] = vote
            self._log("LABELED", row, verdict, labeler, query)
            if leased:
                repeats.since += 1
                repeats.repeatable.append(row)
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
        """The reason why an answer does not count; empty if it does."""
        if self.state not in _TAKES_LABELS:
            return "SESSION_NOT_ACTIVE"
        if asked and asked.repeats:
            return "" if leased else "TOO_LATE"
        if row in self.controls.truth:
            return ""
        label, own = self.labels().get(row), labeler in self.votes.get(row, {})
        open_rows = {one.row for one in self.open_queries()}
        if self._in_conflict(row) and not own:
            return "" if self._decides(labeler, row) else "AWAITS_ADJUDICATION"
        again = replace or label == 0 or self._decides(labeler, row)
        fits = again if own else not label or row in open_rows
        return "" if fits else "ALREADY_ANSWERED"

    def _in_conflict(self, row: int) -> bool:
        return any(one.row == row and one.conflict for one in self.open_queries())

    def _decides(self, labeler: str, row: int) -> bool:
        return labeler in self.rules.adjudicators and self._in_conflict(row)

    def retract(self, labeler: str, row: int) -> str:
        """Retract a vote. Raises Refusal."""
        if self.state not in _TAKES_LABELS:
            raise Refusal("SESSION_NOT_ACTIVE")
        if row in self.controls.truth:
            self._check(row, UNSURE, labeler, 0)
            return APPLIED
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

    def reopen(self, row: int) -> tuple[int, int]:
        """Ask again about a row: the numbers of its query and of its votes. Raises Refusal."""
        if self.state not in _TAKES_LABELS:
            raise Refusal("SESSION_NOT_ACTIVE")
        votes = self.votes.pop(row, {})
        if (not votes and row not in self.dropped) or row in self.controls.truth:
            raise Refusal("NOTHING_TO_REOPEN")
        asked = [one.n for one in self.open_queries() if one.row == row]
        number = max([*asked, *(vote.query for vote in votes.values())], default=0)
        for labeler, vote in votes.items():
            self._log("RETRACTED", row, vote.verdict, labeler, vote.query)
        self.dropped.discard(row)
        self._end_repeats(row)
        if not number:
            number = len(self.queries) + 1
            self.queries[number] = Query(number, row)
        self._settle(self.queries[number])
        self._advance()
        return number, len(votes)

    def skip(
        self, labeler: str, query: int, lease_id: str, mode: str, then: Waiter | None = None
    ) -> str:
        """Skip a query. Raises Refusal."""
        self.reap()
        lease = self.queries[query].leases.get(lease_id)
        if lease is None and self.skipped.get(lease_id) == (labeler, mode):
            return APPLIED
        if lease is None or lease.labeler != labeler:
            raise Refusal("LEASE_LOST")
        self.skipped[lease_id] = labeler, mode
        one = self.end_lease(lease_id)
        if mode == "OTHERS":
            one.skipped_by.add(labeler)
        elif mode == "DROP" and not one.repeats:
            self.dropped.add(one.row)
            self._close(one)
            self._end_repeats(one.row)
        self._wait(then)
        self._advance()
        return APPLIED

    def extend(self, holder: str, lease_ids: Iterable[str]) -> set[str]:
        """Extend leases; return the named ones that are lost."""
        self.reap()
        return set(lease_ids) - set(self.held(holder))

    def release(self, holder: str, lease_ids: Iterable[str]) -> set[str]:
        """Release named leases, or all and stop waiting; return the named ones that are lost."""
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
        """Let a holder wait for queries; return whether its labeler is withdrawn."""
        self.reap()
        if len(self.held(waiter.holder)) < waiter.most:
            self.waiting[waiter.holder] = waiter
        else:
            self.waiting.pop(waiter.holder, None)
        self._advance()
        return waiter.labeler in self.void

    def park(self, holder: str) -> None:
        """Let a holder keep its leases and wait no more."""
        self.waiting.pop(holder, None)

    def _wait(self, waiter: Waiter | None) -> None:
        if waiter and self.state == "LABELING" and len(self.held(waiter.holder)) < waiter.most:
            self.waiting[waiter.holder] = waiter

    def reap(self) -> None:
        """End expired leases; their holders wait no more until they ask."""
        for lease_id in list(self.overdue):
            self.waiting.pop(self.leases()[lease_id][1].holder, None)
            self.end_lease(lease_id)
        self._advance()

    def end_lease(self, lease_id: str) -> Query:
        """End a lease. A repeat closes with its lease."""
        query, _ = self.leases()[lease_id]
        del query.leases[lease_id]
        self.overdue.discard(lease_id)
        query.open = query.open and not query.repeats
        return query

    # Calls of the owner

    def pause(self) -> None:
        """Pause the session. Raises Refusal."""
        if self.state not in ("LABELING", "PAUSED"):
            raise Refusal("ILLEGAL_TRANSITION")
        self.state = "PAUSED"
        self._advance()

    def resume(self) -> None:
        """Resume the session. Raises Refusal."""
        if self.state in ("COMPLETED", "FAILED"):
            if self.total() >= self.budget:
                raise Refusal("BUDGET_SPENT")
            self.ranking, self.exhausted, self.reason = None, False, ""
        elif self.state not in ("PAUSED", "LABELING"):
            raise Refusal("ILLEGAL_TRANSITION")
        self.state = "LABELING"
        self._advance()

    def finish(self) -> None:
        """Finish the session. Raises Refusal."""
        if self.state in ("LABELING", "PAUSED"):
            self._end("ESTIMATING", "FINISHED")
        elif self.state not in ("ESTIMATING", "COMPLETED"):
            raise Refusal("ILLEGAL_TRANSITION")

    def set_budget(self, budget: int) -> None:
        """Set the budget. Raises Refusal."""
        if self.state == "ESTIMATING":
            raise Refusal("SESSION_NOT_ACTIVE")
        if budget > self.rows:
            raise Refusal("BUDGET_TOO_LARGE")
        if budget < self.total():
            raise Refusal("BUDGET_TOO_SMALL")
        self.budget = budget
        self._advance()

    def effect(self, labeler: str, void: bool) -> Effect:
        """The effect that ``withdraw`` would have. Raises Refusal."""
        if self.state in ("ESTIMATING", "FAILED"):
            raise Refusal("SESSION_NOT_ACTIVE")
        known = self.repeat_states.keys() | self.controls.shown.keys()
        if not self.rows_of(labeler) and labeler not in known:
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

    # Calls of workers

    def rank(self, rows: list[int], controls: Iterable[int], log_length: int) -> bool:
        """Offer a ranking made when the log had `log_length` events; return whether it is used.

        It brings what to show beside some control items.
        """
        fresh = all(kind in _NO_VOTES for kind, *_ in self.log[log_length:])
        at_work = {lease.holder for _, lease in self.leases().values()}
        at_work |= {one.holder for one in self.waiting.values() if one.labeler not in self.void}
        asks = self.state in ("LABELING", "PAUSED")
        taken = asks and (fresh or (self.outrun and len(at_work) > 1))
        self.outrun = not taken
        if taken:
            self.ranking, self.exhausted = rows, fresh and not rows
            self.controls.ready = set(controls)
        self._advance()
        return taken

    def fail(self) -> None:
        """Fail the session because of a job."""
        self._end("FAILED", "FAILED")

    # Consequences

    def _advance(self) -> None:
        """End the session if its budget is spent or no row is left to ask about."""
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

    def _check(self, row: int, verdict: int, labeler: str, query: int) -> None:
        """An answer to a control item, which is no vote."""
        self.controls.said[labeler][row] = verdict
        self._log("CHECKED", row, verdict, labeler, query)

    def _settle(self, query: Query | None) -> None:
        """Open or close a query after a change of the votes on its row."""
        if query is None:
            return
        _, wanted, given, query.conflict = self.judge(query.row, query)
        if given < wanted:
            query.open = True
        else:
            self._close(query)

    def _close(self, query: Query) -> None:
        query.open = query.conflict = False
        for lease_id in list(query.leases):
            self.end_lease(lease_id)

    def _end_repeats(self, row: int, labeler: str = "") -> None:
        """End the repeats of a row, of one labeler or of all."""
        for lease_id, (query, lease) in self.leases().items():
            if query.repeats and query.row == row and labeler in ("", lease.labeler):
                self.end_lease(lease_id)

    def _end(self, state: str, reason: str) -> None:
        for query in self.queries.values():
            self._close(query)
        self.state, self.reason, self.ranking = state, reason, None
        self.controls.ready = set()
