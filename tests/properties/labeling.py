"""Random actions of labelers in a session."""

from typing import Any, NamedTuple

from tests.properties.ballot import Rules
from tests.properties.checked_session import Backend, CheckedSession
from tests.properties.controls import Controls
from tests.properties.model import Waiter

from svddtune.state.session import Answer, LeaseRequest, Receipt, SkipMode, Verdict


class Step(NamedTuple):
    """One action. The numbers choose among the holders, leases, votes and values there are."""

    verb: str
    who: int
    pick: int
    value: int
    flag: bool

    @property
    def verdict(self) -> int:
        """Inlier, outlier or, less often, unsure."""
        return (1, 1, -1, -1, 0)[self.value % 5]

    @property
    def most(self) -> int:
        """Number of queries to wait for afterwards, 0 to 2."""
        return self.value % 3


class Start(NamedTuple):
    """Settings and size of a history."""

    rules: Rules
    rows: int
    budget: int
    initial: dict[int, int]
    # What the control items are, which are the last rows, and the share of them.
    controls: list[int]
    control_share: float
    holder_count: int
    # Shifts the predictions over the rows; 0 predicts nothing.
    prediction: int


class Labeling:
    """A session with its labelers."""

    def __init__(self, backend: Backend, start: Start) -> None:
        self.backend, self.holder_count = backend, start.holder_count
        self.answers: list[tuple[Answer, Receipt]] = []
        self.number = 0
        self.checked = CheckedSession(
            backend,
            start.rules,
            rows=start.rows,
            budget=min(start.rows, max(start.budget, len(start.initial) + 1)),
            initial=start.initial,
            controls=Controls(
                {start.rows - 1 - i: one for i, one in enumerate(start.controls)},
                start.control_share,
            ),
            predicted=lambda row: (row + start.prediction) % 3 - 1 if start.prediction else 0,
        )
        self.model = self.checked.model
        self.rank(start.rows)

    def rank(self, most: int) -> None:
        """Complete all jobs; a ranking has at most `most` rows."""
        self.checked.work_off()
        while self.checked.begun:
            self.checked.end_suggest(0, most)
            self.checked.work_off()

    # Choices

    def holder(self, who: int) -> tuple[str, str]:
        """A holder and its labeler. Some labelers have two holders."""
        who %= self.holder_count
        labeler = f"l{who * 2 // 3}"
        return f"{labeler}/{who}", labeler

    def holders(self) -> list[tuple[str, str]]:
        """All holders and their labelers."""
        return [self.holder(who) for who in range(self.holder_count)]

    def waiter(self, holder: str, labeler: str, most: int) -> Waiter:
        """The waiter of a holder; every fifth holder is notified only."""
        return Waiter(holder, labeler, most, notify_only=int(holder.split("/")[1]) % 5 == 4)

    def lease_request(self, waiter: Waiter) -> LeaseRequest:
        """The store's request of a waiter; every third labeler is automated."""
        automated = int(waiter.holder.split("/")[1] or 0) % 3 == 2
        return LeaseRequest(
            waiter.holder,
            waiter.labeler,
            waiter.most,
            automated=automated,
            notify_only=waiter.notify_only,
        )

    def then(self, holder: str, labeler: str, most: int) -> Waiter | None:
        """The waiter after an answer, or None."""
        waiter = self.waiter(holder, labeler, most)
        return None if waiter.notify_only or not most else waiter

    def live_lease(self, pick: int) -> tuple[str, int, str, str] | None:
        """A current lease: id, query, holder, labeler."""
        leases = list(self.model.leases().items())
        if not leases:
            return None
        lease_id, (query, lease) = leases[pick % len(leases)]
        return lease_id, query.n, lease.holder, lease.labeler

    def ended_lease(self, pick: int) -> tuple[str, int, str, str] | None:
        """A lease that has ended: id, query, holder, labeler."""
        live = self.model.leases()
        ended = [(one, *whose) for one, whose in self.checked.all_leases.items() if one not in live]
        return ended[pick % len(ended)] if ended else None

    # Labelers

    def lease(self, step: Step) -> None:
        """One holder asks for queries."""
        self.ask(self.waiter(*self.holder(step.who), step.value % 4), stays=step.flag)

    def lease_many(self, step: Step) -> None:
        """Several holders ask and wait."""
        for who in range(step.who, step.who + 2 + step.pick % 6):
            self.ask(self.waiter(*self.holder(who), 1 + step.value % 2), stays=True)

    def ask(self, waiter: Waiter, *, stays: bool) -> None:
        """Lease available queries, and wait for more if `stays`."""
        outcome = self.checked.step(
            lambda: self.backend.run(
                self.checked.store.lease(
                    self.checked.session_id, self.lease_request(waiter), waits=stays
                )
            ),
            lambda: self.model.ask(waiter),
            lambda outcome: outcome.withdrawn,
            actor=waiter.holder,
            asks=True,
            stays=stays,
        )
        assert outcome is not None
        assert sorted(one.lease_id for one in outcome.leases) == sorted(
            self.model.held(waiter.holder)
        )
        assert outcome.state.value == self.model.state
        for one in outcome.leases:
            query = self.model.queries[one.query]
            # Control items look like queries for a vote.
            assert one.repeats == (query.repeats and not query.control)
            assert any(one.conflict) == query.conflict

    def answer(self, step: Step) -> None:
        """Answer a leased query."""
        self.answer_to(self.live_lease(step.pick), step.verdict, step.most)

    def decide(self, step: Step) -> None:
        """An adjudicator asks, and decides where votes came to nothing; seldom without a lease.

        Where all is agreed, some dissent, or an adjudicator corrects a decision.
        """
        conflicts = [query for query in self.model.open_queries() if query.conflict]
        if not conflicts:
            decisions = [
                (row, labeler)
                for row, votes in self.model.votes.items()
                for labeler, vote in votes.items()
                if vote.decides
            ]
            if decisions and step.flag:
                row, labeler = decisions[step.pick % len(decisions)]
                self.send_answer(f"{labeler}/", labeler, step.verdict, row=row, replace=True)
            else:
                for turn in range(3):
                    self.dissent(step._replace(who=step.who + turn))
            return
        judges = [one for one in self.holders() if one[1] in self.model.rules.adjudicators]
        judge = judges[step.who % len(judges)]
        if step.value == 0:
            row = conflicts[step.pick % len(conflicts)].row
            self.send_answer(*judge, step.verdict, row=row, replace=step.flag)
            return
        if not any(query.leases for query in conflicts):
            self.ask(self.waiter(*judge, 1 + len(self.model.held(judge[0]))), stays=step.flag)
        leases = [
            (lease_id, query.n, *lease)
            for lease_id, (query, lease) in self.model.leases().items()
            if query.conflict
        ]
        if leases:
            self.answer_to(leases[step.pick % len(leases)], step.verdict, step.most)

    def dissent(self, step: Step) -> None:
        """Vote against the majority on an open query; unsure where there is none.

        Where no query is open, ask for one.
        """
        asked = [query.row for query in self.model.open_queries() if not query.conflict]
        if not asked:
            self.lease(step)
        else:
            row = asked[step.pick % len(asked)]
            votes = self.model.votes.get(row, {})
            balance = sum(vote.verdict for vote in votes.values())
            against = (balance < 0) - (balance > 0)
            holders = [one for one in self.holders() if one[1] not in votes] or self.holders()
            self.send_answer(*holders[step.who % len(holders)], against, row=row)

    def answer_late(self, step: Step) -> None:
        """Answer a query whose lease has ended."""
        self.answer_to(self.ended_lease(step.pick), step.verdict, step.most)

    def answer_to(self, lease: tuple[str, int, str, str] | None, verdict: int, most: int) -> None:
        if lease:
            lease_id, query, holder, labeler = lease
            self.send_answer(holder, labeler, verdict, most, query=query, lease_id=lease_id)

    def answer_unasked(self, step: Step) -> None:
        """Label any observation, often one with an open query or a control item."""
        asked = [query.row for query in self.model.open_queries()] + self.model.controls.order
        row = asked[step.pick % len(asked)] if asked and step.value % 2 else step.pick
        self.send_answer(
            *self.holder(step.who), step.verdict, row=row % self.model.rows, replace=step.flag
        )

    def correct(self, step: Step) -> None:
        """Correct a vote, or an answer to a control item."""
        votes = self.answered()
        if votes:
            row, labeler = votes[step.pick % len(votes)]
            self.send_answer(f"{labeler}/", labeler, step.verdict, row=row, replace=True)

    def answered(self) -> list[tuple[int, str]]:
        """All votes and answers to control items: row and labeler."""
        said = self.model.controls.said
        return self.votes() + [(row, name) for name, of_name in said.items() for row in of_name]

    def votes(self) -> list[tuple[int, str]]:
        """All votes: row and labeler."""
        return [(row, name) for row, of_row in self.model.votes.items() for name in of_row]

    def send_answer(
        self, holder: str, labeler: str, verdict: int, most: int = 0, **what: Any
    ) -> None:
        self.number += 1
        answer = Answer(f"a{self.number}", labeler, holder, Verdict(verdict), **what)
        then = self.then(holder, labeler, most) if most else None
        receipt = self.checked.step(
            lambda: self.backend.run(
                self.checked.store.answer(
                    self.checked.session_id, answer, then=self.lease_request(then) if then else None
                )
            ),
            lambda: self.model.answer(labeler, verdict, then=then, **what),
            lambda receipt: "APPLIED" if receipt.applied else "UNUSED",
            actor=holder,
        )
        if receipt:
            counts = receipt.counts
            assert (counts.inlier, counts.outlier, counts.unsure) == self.model.counts()
            self.answers.append((answer, receipt))

    def answer_again(self, step: Step) -> None:
        """Repeat an answer id: the same answer gets the same receipt, another one is refused."""
        if not self.answers:
            return
        answer, receipt = self.answers[step.pick % len(self.answers)]
        verdict = answer.verdict if step.flag else step.verdict
        again = Answer(
            answer.answer_id,
            answer.labeler,
            answer.holder,
            Verdict(verdict),
            answer.query,
            answer.lease_id,
            answer.row,
            replace=answer.replace,
        )
        same = again.verdict is answer.verdict
        self.checked.step(
            lambda: self.backend.run(self.checked.store.answer(self.checked.session_id, again)),
            lambda: receipt if same else "ANSWER_ID_REUSED",
            actor=answer.holder,
        )

    def skip(self, step: Step) -> None:
        """Skip a query whose lease is current or, rarely, has ended."""
        lease = self.ended_lease(step.pick) if step.value > 7 else self.live_lease(step.pick)
        if lease:
            then = self.then(*lease[2:], step.most if step.flag else 0)
            self.send_skip(lease, list(SkipMode)[step.value % 3], then)

    def send_skip(
        self, lease: tuple[str, int, str, str], mode: SkipMode, then: Waiter | None
    ) -> None:
        lease_id, query, holder, labeler = lease
        self.checked.step(
            lambda: self.backend.run(
                self.checked.store.skip(
                    self.checked.session_id,
                    labeler=labeler,
                    holder=holder,
                    query=query,
                    lease_id=lease_id,
                    mode=mode,
                    then=self.lease_request(then) if then else None,
                )
            ),
            lambda: self.model.skip(labeler, query, lease_id, mode.value, then),
            lambda receipt: "APPLIED",
            actor=holder,
        )

    def take_over(self, step: Step) -> None:
        """Answer or skip under the lease of another labeler."""
        lease = self.ended_lease(step.pick) if step.value > 6 else self.live_lease(step.pick)
        holder, labeler = self.holder(step.who)
        if not lease or lease[3] == labeler:
            return
        lease_id, query, _, _ = lease
        if step.flag:
            self.send_skip((lease_id, query, holder, labeler), SkipMode.DROP, None)
            return
        self.number += 1
        answer = Answer(
            f"a{self.number}",
            labeler,
            holder,
            Verdict(step.verdict),
            query=query,
            lease_id=lease_id,
        )
        self.checked.step(
            lambda: self.backend.run(self.checked.store.answer(self.checked.session_id, answer)),
            lambda: "LEASE_LOST",
            actor=holder,
        )

    def retract(self, step: Step) -> None:
        """Retract a vote, the labeler's own or another's, or an answer to a control item."""
        votes, own = self.answered(), step.flag
        row, labeler = votes[step.pick % len(votes)] if votes else (0, "nobody")
        self.number += 1
        self.checked.step(
            lambda: self.backend.run(
                self.checked.store.retract(
                    self.checked.session_id,
                    answer_id=f"r{self.number}",
                    labeler=labeler if own else "owner",
                    row=row,
                    of="" if own else labeler,
                )
            ),
            lambda: self.model.retract(labeler, row),
            lambda receipt: "APPLIED",
        )

    def extend(self, step: Step) -> None:
        """Extend leases."""
        self.extend_or_release(step, keep=True)

    def release(self, step: Step) -> None:
        """Release leases."""
        self.extend_or_release(step, keep=False)

    def extend_or_release(self, step: Step, *, keep: bool) -> None:
        """Extend or release leases, named or all, of a holder with leases or of any holder."""
        live, past = self.live_lease(step.pick), self.ended_lease(step.pick)
        holder, labeler = live[2:] if live and step.value % 2 else self.holder(step.who)
        ids = [one[0] for one in (live, past) if one] if step.flag else []
        self.send_ids(holder, labeler, ids, keep=keep)

    def send_ids(self, holder: str, labeler: str, ids: list[str], *, keep: bool) -> None:
        store, session_id = self.checked.store, self.checked.session_id
        if keep:
            work = store.extend(session_id, holder=holder, labeler=labeler, lease_ids=ids)
        else:
            work = store.release(session_id, holder=holder, lease_ids=ids)
        self.checked.step(
            lambda: self.backend.run(work),
            lambda: (self.model.extend if keep else self.model.release)(holder, ids),
            lambda receipt: set(receipt.lost),
            actor=holder,
        )

    def park(self, step: Step) -> None:
        """Let a stream break off."""
        holder, _ = self.holder(step.who)
        self.checked.step(
            lambda: self.backend.run(self.checked.store.park(self.checked.session_id, holder)),
            lambda: self.model.park(holder),
            actor=holder,
        )
