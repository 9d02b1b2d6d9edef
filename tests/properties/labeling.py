"""What may happen in a session, in any order: what its labelers do."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.properties.ballot import Rules
from tests.properties.model import Waiter
from tests.properties.table import House, Table

from svddtune.state.session import Answer, Asking, Receipt, SkipMode, Verdict

MOST_HOLDERS = 50

holders = st.integers(0, MOST_HOLDERS - 1)
picks = st.integers(0, 1000)
rows = st.integers(0, 59)
verdicts = st.sampled_from([1, -1, 0])
few = st.integers(0, 2)
modes = st.sampled_from(SkipMode)
rules = st.builds(
    # The limit is what it is above the overlap.
    lambda overlap, above, **further: Rules(overlap=overlap, limit=overlap + above, **further),
    overlap=st.integers(1, 3),
    above=few,
    adaptive=st.booleans(),
    repeat_every=st.sampled_from([0, 0, 1, 3]),
)


class Labeling(RuleBasedStateMachine):
    """One session with its labelers."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self.house = house
        self.answers: list[tuple[Answer, Receipt]] = []
        self.number = 0

    @initialize(
        rules=rules,
        rows=st.sampled_from([6, 14, 60]),
        budget=st.integers(2, 20),
        initial=st.dictionaries(st.integers(0, 5), st.sampled_from([1, -1]), max_size=3),
        crowd=st.sampled_from([2, 6, MOST_HOLDERS]),
        model=st.integers(0, 3),
        prompt=st.booleans(),
    )
    def begin(
        self,
        rules: Rules,
        rows: int,
        budget: int,
        initial: dict[int, int],
        crowd: int,
        model: int,
        prompt: bool,
    ) -> None:
        """A session on a dataset of some size, and so many holders."""
        self.crowd = crowd
        self.table = Table(
            self.house,
            rules,
            rows=rows,
            budget=min(rows, max(budget, len(initial) + 1)),
            initial=initial,
            predicted=lambda row: (row + model) % 3 - 1 if model else 0,
        )
        self.model = self.table.model
        if prompt:
            self.rank(rows)

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
        """As what it waits: every fifth is told."""
        return Waiter(holder, labeler, most, told=int(holder.split("/")[1]) % 5 == 4)

    def asking(self, waiter: Waiter) -> Asking:
        """The same for the store; every third is a program."""
        automated = int(waiter.holder.split("/")[1] or 0) % 3 == 2
        return Asking(
            waiter.holder, waiter.labeler, waiter.most, automated=automated, told=waiter.told
        )

    def then(self, holder: str, labeler: str, most: int) -> Waiter | None:
        """Who waits after an answer."""
        waiter = self.waiter(holder, labeler, most)
        return None if waiter.told or not most else waiter

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

    @rule(who=holders, most=st.integers(0, 3), stays=st.booleans())
    def lease(self, who: int, most: int, stays: bool) -> None:
        self.ask(self.waiter(*self.holder(who), most), stays=stays)

    @rule(crowd=st.lists(holders, min_size=2, max_size=8, unique=True), most=st.integers(1, 2))
    def lease_many(self, crowd: list[int], most: int) -> None:
        for who in crowd:
            self.lease(who, most, stays=True)

    def ask(self, waiter: Waiter, *, stays: bool) -> None:
        """Lease what there is, and wait for the rest or not."""
        outcome = self.table.step(
            lambda: self.house.do(
                self.table.store.lease(self.table.session_id, self.asking(waiter), waits=stays)
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

    @rule(pick=picks, verdict=verdicts, most=few)
    def answer(self, pick: int, verdict: int, most: int) -> None:
        self.answer_lease(self.live(pick), verdict, most)

    # Done more often than the rest.
    answer_too, answer_as_well = answer, answer

    @rule(pick=picks, verdict=verdicts, most=few)
    def answer_late(self, pick: int, verdict: int, most: int) -> None:
        self.answer_lease(self.past(pick), verdict, most)

    def answer_lease(
        self, lease: tuple[str, int, str, str] | None, verdict: int, most: int
    ) -> None:
        if lease:
            lease_id, query, holder, labeler = lease
            self.send(holder, labeler, verdict, most, query=query, lease_id=lease_id)

    @rule(who=holders, row=rows, verdict=verdicts, replace=st.booleans())
    def answer_unasked(self, who: int, row: int, verdict: int, replace: bool) -> None:
        self.send(*self.holder(who), verdict, row=row % self.model.rows, replace=replace)

    @rule(pick=picks, verdict=verdicts)
    def correct(self, pick: int, verdict: int) -> None:
        votes = [(row, name) for row, of_row in self.model.votes.items() for name in of_row]
        if votes:
            row, labeler = votes[pick % len(votes)]
            self.send(f"{labeler}/", labeler, verdict, row=row, replace=True)

    def send(self, holder: str, labeler: str, verdict: int, most: int = 0, **what: Any) -> None:
        self.number += 1
        answer = Answer(f"a{self.number}", labeler, holder, Verdict(verdict), **what)
        then = self.then(holder, labeler, most) if most else None
        receipt = self.table.step(
            lambda: self.house.do(
                self.table.store.answer(
                    self.table.session_id, answer, then=self.asking(then) if then else None
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

    @precondition(lambda self: self.answers)
    @rule(pick=picks, verdict=verdicts)
    def answer_again(self, pick: int, verdict: int) -> None:
        """The same answer id: the same receipt, or a refusal where it is another answer."""
        answer, receipt = self.answers[pick % len(self.answers)]
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

    @rule(pick=picks, mode=modes, most=few, late=st.booleans())
    def skip(self, pick: int, mode: SkipMode, most: int, late: bool) -> None:
        lease = self.past(pick) if late else self.live(pick)
        if not lease:
            return
        lease_id, query, holder, labeler = lease
        then = self.then(holder, labeler, most)
        self.table.step(
            lambda: self.house.do(
                self.table.store.skip(
                    self.table.session_id,
                    labeler=labeler,
                    holder=holder,
                    query=query,
                    lease_id=lease_id,
                    mode=mode,
                    then=self.asking(then) if then else None,
                )
            ),
            lambda: self.model.skip(labeler, query, lease_id, mode.value, then),
            lambda receipt: "APPLIED",
            speaker=holder,
        )

    @rule(pick=picks, own=st.booleans())
    def retract(self, pick: int, own: bool) -> None:
        votes = [(row, name) for row, of_row in self.model.votes.items() for name in of_row]
        row, labeler = votes[pick % len(votes)] if votes else (0, "nobody")
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

    @rule(who=holders, pick=picks, named=st.booleans())
    def extend(self, who: int, pick: int, named: bool) -> None:
        self.give_or_keep(who, pick, named, keep=True)

    @rule(who=holders, pick=picks, named=st.booleans())
    def release(self, who: int, pick: int, named: bool) -> None:
        self.give_or_keep(who, pick, named, keep=False)

    def give_or_keep(self, who: int, pick: int, named: bool, *, keep: bool) -> None:
        live = self.live(pick)
        holder, labeler = (live[2], live[3]) if live and named else self.holder(who)
        past = self.past(pick)
        ids = [one[0] for one in (live, past) if one] if named else []
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

    @rule(who=holders)
    def park(self, who: int) -> None:
        holder, _ = self.holder(who)
        self.table.step(
            lambda: self.house.do(self.table.store.park(self.table.session_id, holder)),
            lambda: self.model.park(holder),
            speaker=holder,
        )
