"""What may happen in a session, in any order: what its owner, its workers and time do."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.properties.ballot import Effect
from tests.properties.labeling import Labeling, holders, picks
from tests.properties.model import Waiter

from svddtune.state import keys
from svddtune.state.session import WithdrawalEffect

GONE_MS = 3_600_000

budgets = st.integers(1, 61)


class Histories(Labeling):
    """One session with its labelers, its owner and its workers."""

    # Time

    @rule(picked=st.lists(picks, min_size=1, max_size=3))
    def run_out(self, picked: list[int]) -> None:
        """Some leases run out; nobody has noticed yet."""
        key = keys.session(self.table.session_id, "leases")
        for lease_id in {live[0] for pick in picked if (live := self.live(pick))}:
            self.table.client.zincrby(key, -GONE_MS, lease_id)
            self.model.overdue.add(lease_id)

    @rule()
    def expire(self) -> None:
        """A service ends leases that have run out."""
        self.table.step(
            lambda: self.house.do(self.table.store.expire(self.table.session_id)),
            self.model.reap,
            lambda left: None,
        )

    # The owner

    @rule()
    def pause(self) -> None:
        self.owner(self.table.store.pause, self.model.pause)

    @rule()
    def resume(self) -> None:
        self.owner(self.table.store.resume, self.model.resume)

    @precondition(lambda self: self.number > 8)
    @rule()
    def finish(self) -> None:
        self.owner(self.table.store.finish, self.model.finish)

    @rule(budget=budgets)
    def change_budget(self, budget: int) -> None:
        self.owner(self.table.store.set_budget, self.model.set_budget, budget)

    def owner(self, act: Any, expected: Any, *further: int) -> None:
        self.table.step(
            lambda: self.house.do(act(self.table.session_id, *further)),
            lambda: expected(*further),
        )

    @rule(who=holders, void=st.booleans())
    def withdraw(self, who: int, void: bool) -> None:
        """What is previewed changes nothing, and is what happens then."""
        _, labeler = self.holder(who)
        store, session_id = self.table.store, self.table.session_id
        if void:
            self.table.step(
                lambda: self.house.do(store.preview_withdrawal(session_id, labeler, "0" * 32)),
                lambda: self.model.effect(labeler, void),
                effect_of,
            )
        act = store.withdraw if void else store.reinstate
        self.table.step(
            lambda: self.house.do(act(session_id, labeler, by="owner")),
            lambda: self.model.withdraw(labeler, void),
            effect_of,
        )

    # Workers

    @rule()
    def begin_jobs(self) -> None:
        self.table.work_off()

    @rule(most=st.sampled_from([2, 60]))
    def do_jobs(self, most: int) -> None:
        self.rank(most)

    # Done more often than the rest.
    do_more_jobs = do_jobs

    @precondition(lambda self: self.table.begun)
    @rule(pick=picks, most=st.sampled_from([1, 2, 60]))
    def end_job(self, pick: int, most: int) -> None:
        self.table.end_suggest(pick % len(self.table.begun), most)

    @precondition(lambda self: self.table.begun)
    @rule(pick=picks)
    def lose_job(self, pick: int) -> None:
        self.table.lose_suggest(pick % len(self.table.begun))

    @precondition(lambda self: self.table.begun)
    @rule(pick=picks)
    def fail_job(self, pick: int) -> None:
        self.table.fail_suggest(pick % len(self.table.begun))

    # The end

    def teardown(self) -> None:
        if hasattr(self, "table") and self.table.intact:
            self.drain()
            self.table.delete()

    def drain(self) -> None:
        """With honest labelers enough every session ends."""
        self.owner(self.table.store.resume, self.model.resume)
        # Not too far away, so that there is time for many histories.
        self.change_budget(min(self.model.rows, self.model.total() + 3))
        for who in range(self.crowd):
            # Those who are still there leave.
            holder, _ = self.holder(who)
            if holder in self.model.waiting or self.model.held(holder):
                self.release(who, 0, named=False)
        for turn in range(4 * self.model.rows + 20):
            while self.table.begun:
                self.table.end_suggest(0, self.model.rows)
            self.table.work_off()
            if self.model.state in ("COMPLETED", "FAILED"):
                return
            # (Not one of those who voted or passed on queries before.)
            waiter = Waiter(f"honest{turn % 20}/", f"honest{turn % 20}", 2)
            self.ask(waiter, stays=turn % 2 == 0)
            while held := self.model.held(waiter.holder):
                query, lease = self.model.leases()[held[0]]
                self.answer_lease((held[0], query.n, *lease), 1, 0)
        raise AssertionError("the session does not end")


def effect_of(effect: WithdrawalEffect) -> Effect:
    """In the model's words."""
    return Effect(
        effect.votes,
        effect.labels_lost,
        effect.labels_changed,
        effect.labels_gained,
        effect.queries_reopened,
        (effect.before.inlier, effect.before.outlier, effect.before.unsure),
        (effect.after.inlier, effect.after.outlier, effect.after.unsure),
    )
