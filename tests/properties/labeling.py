"""What labelers may do in a session, in any order."""

from typing import Any, NamedTuple

from tests.properties.ballot import Rules
from tests.properties.model import Waiter
from tests.properties.table import House, Table

from svddtune.state.session import Answer, LeaseRequest, Receipt, SkipMode, Verdict


class Step(NamedTuple):
    """One thing that is done; the numbers choose among what there is."""

    verb: str
    who: int
    pick: int
    value: int
    flag: bool

    @property
    def verdict(self) -> int:
        """INLIER, OUTLIER or, less often, UNSURE."""
        return (1, 1, -1, -1, 0)[self.value % 5]

    @property
    def most(self) -> int:
        """Queries to wait for after it, 0 to 2."""
        return self.value % 3


class Start(NamedTuple):
    """How a session begins, and who is there."""

    rules: Rules
    rows: int
    budget: int
    initial: dict[int, int]
    # Holders.
    crowd: int
    # What is predicted, 0: nothing.
    model: int


class Labeling:
    """One session with its labelers."""

    def __init__(self, house: House, start: Start) -> None:
        self.house, self.crowd = house, start.crowd
        self.answers: list[tuple[Answer, Receipt]] = []
        self.number = 0
        self.table = Table(
            house,
            start.rules,
            rows=start.rows,
            budget=min(start.rows, max(start.budget, len(start.initial) + 1)),
            initial=start.initial,
            predicted=lambda row: (row + start.model) % 3 - 1 if start.model else 0,
        )
        self.model = self.table.model
        self.rank(start.rows)

    def rank(self, most: int) -> None:
        """Workers do all there is to do."""
        self.table.work_off()
        while self.table.begun:
            self.table.end_suggest(0, most)
            self.table.work_off()

    # Who and what

    def holder(self, who: int) -> tuple[str, str]:
        """A holder and its labeler; some labelers have two."""
        who %= self.crowd
        labeler = f"l{who * 2 // 3}"
        return f"{labeler}/{who}", labeler

    def waiter(self, holder: str, labeler: str, most: int) -> Waiter:
        """As what it waits: every fifth is notify_only."""
        return Waiter(holder, labeler, most, notify_only=int(holder.split("/")[1]) % 5 == 4)

    def lease_request(self, waiter: Waiter) -> LeaseRequest:
        """The same for the store; every third is a program."""
        automated = int(waiter.holder.split("/")[1] or 0) % 3 == 2
        return LeaseRequest(
            waiter.holder,
            waiter.labeler,
            waiter.most,
            automated=automated,
            notify_only=waiter.notify_only,
        )

    def then(self, holder: str, labeler: str, most: int) -> Waiter | None:
        """Who waits after an answer."""
        waiter = self.waiter(holder, labeler, most)
        return None if waiter.notify_only or not most else waiter

    def live(self, pick: int) -> tuple[str, int, str, str] | None:
        """A lease that is out: id, query, holder, labeler."""
        leases = list(self.model.leases().items())
        if not leases:
            return None
        lease_id, (query, lease) = leases[pick % len(leases)]
        return lease_id, query.n, lease.holder, lease.labeler

    def past(self, pick: int) -> tuple[str, int, str, str] | None:
        """One that was."""
        live = self.model.leases()
        ended = [(one, *whose) for one, whose in self.table.given.items() if one not in live]
        return ended[pick % len(ended)] if ended else None

    # Labelers

    def lease(self, step: Step) -> None:
        """One asks."""
        self.ask(self.waiter(*self.holder(step.who), step.value % 4), stays=step.flag)

    def lease_many(self, step: Step) -> None:
        """Several ask, and wait."""
        for who in range(step.who, step.who + 2 + step.pick % 6):
            self.ask(self.waiter(*self.holder(who), 1 + step.value % 2), stays=True)

    def ask(self, waiter: Waiter, *, stays: bool) -> None:
        """Lease what there is, and wait for the rest or not."""
        outcome = self.table.step(
            lambda: self.house.do(
                self.table.store.lease(
                    self.table.session_id, self.lease_request(waiter), waits=stays
                )
            ),
            lambda: self.model.ask(waiter),
            lambda outcome: outcome.withdrawn,
            speaker=waiter.holder,
            asks=True,
            stays=stays,
        )
        assert outcome is not None
        assert sorted(one.lease_id for one in outcome.leases) == sorted(
            self.model.held(waiter.holder)
        )
        assert outcome.state.value == self.model.state

    def answer(self, step: Step) -> None:
        """A query that is held."""
        self.answer_lease(self.live(step.pick), step.verdict, step.most)

    def answer_late(self, step: Step) -> None:
        """A query that was held."""
        self.answer_lease(self.past(step.pick), step.verdict, step.most)

    def answer_lease(
        self, lease: tuple[str, int, str, str] | None, verdict: int, most: int
    ) -> None:
        if lease:
            lease_id, query, holder, labeler = lease
            self.send(holder, labeler, verdict, most, query=query, lease_id=lease_id)

    def answer_unasked(self, step: Step) -> None:
        """Any observation, often one that somebody is asked about."""
        asked = [query.row for query in self.model.open_queries()]
        row = asked[step.pick % len(asked)] if asked and step.value % 2 else step.pick
        self.send(
            *self.holder(step.who), step.verdict, row=row % self.model.rows, replace=step.flag
        )

    def correct(self, step: Step) -> None:
        """A vote there is."""
        votes = self.votes()
        if votes:
            row, labeler = votes[step.pick % len(votes)]
            self.send(f"{labeler}/", labeler, step.verdict, row=row, replace=True)

    def votes(self) -> list[tuple[int, str]]:
        """All votes: row and labeler."""
        return [(row, name) for row, of_row in self.model.votes.items() for name in of_row]

    def send(self, holder: str, labeler: str, verdict: int, most: int = 0, **what: Any) -> None:
        self.number += 1
        answer = Answer(f"a{self.number}", labeler, holder, Verdict(verdict), **what)
        then = self.then(holder, labeler, most) if most else None
        receipt = self.table.step(
            lambda: self.house.do(
                self.table.store.answer(
                    self.table.session_id, answer, then=self.lease_request(then) if then else None
                )
            ),
            lambda: self.model.answer(labeler, verdict, then=then, **what),
            lambda receipt: "APPLIED" if receipt.applied else "UNUSED",
            speaker=holder,
        )
        if receipt:
            counts = receipt.counts
            assert (counts.inlier, counts.outlier, counts.unsure) == self.model.counts()
            self.answers.append((answer, receipt))

    def answer_again(self, step: Step) -> None:
        """The same answer id: the same receipt, or a refusal where it is another answer."""
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
        self.table.step(
            lambda: self.house.do(self.table.store.answer(self.table.session_id, again)),
            lambda: receipt if same else "ANSWER_ID_REUSED",
            speaker=answer.holder,
        )

    def skip(self, step: Step) -> None:
        """A query that is, or seldom was, held."""
        lease = self.past(step.pick) if step.value > 7 else self.live(step.pick)
        if lease:
            then = self.then(*lease[2:], step.most if step.flag else 0)
            self.pass_on(lease, list(SkipMode)[step.value % 3], then)

    def pass_on(
        self, lease: tuple[str, int, str, str], mode: SkipMode, then: Waiter | None
    ) -> None:
        lease_id, query, holder, labeler = lease
        self.table.step(
            lambda: self.house.do(
                self.table.store.skip(
                    self.table.session_id,
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
            speaker=holder,
        )

    def take_over(self, step: Step) -> None:
        """Somebody answers or skips under a lease that was another's."""
        lease = self.past(step.pick) if step.value > 6 else self.live(step.pick)
        holder, labeler = self.holder(step.who)
        if not lease or lease[3] == labeler:
            return
        lease_id, query, _, _ = lease
        if step.flag:
            self.pass_on((lease_id, query, holder, labeler), SkipMode.DROP, None)
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
        self.table.step(
            lambda: self.house.do(self.table.store.answer(self.table.session_id, answer)),
            lambda: "LEASE_LOST",
            speaker=holder,
        )

    def retract(self, step: Step) -> None:
        """A vote, the labeler's own or another's."""
        votes, own = self.votes(), step.flag
        row, labeler = votes[step.pick % len(votes)] if votes else (0, "nobody")
        self.number += 1
        self.table.step(
            lambda: self.house.do(
                self.table.store.retract(
                    self.table.session_id,
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
        """A heartbeat."""
        self.give_or_keep(step, keep=True)

    def release(self, step: Step) -> None:
        """Queries are given back."""
        self.give_or_keep(step, keep=False)

    def give_or_keep(self, step: Step, *, keep: bool) -> None:
        """Some leases, named or all, of one who has some or of anybody."""
        live, past = self.live(step.pick), self.past(step.pick)
        holder, labeler = live[2:] if live and step.value % 2 else self.holder(step.who)
        ids = [one[0] for one in (live, past) if one] if step.flag else []
        store, session_id = self.table.store, self.table.session_id
        if keep:
            work = store.extend(session_id, holder=holder, labeler=labeler, lease_ids=ids)
        else:
            work = store.release(session_id, holder=holder, lease_ids=ids)
        self.table.step(
            lambda: self.house.do(work),
            lambda: (self.model.extend if keep else self.model.release)(holder, ids),
            lambda receipt: set(receipt.lost),
            speaker=holder,
        )

    def park(self, step: Step) -> None:
        """A stream breaks off."""
        holder, _ = self.holder(step.who)
        self.table.step(
            lambda: self.house.do(self.table.store.park(self.table.session_id, holder)),
            lambda: self.model.park(holder),
            speaker=holder,
        )
