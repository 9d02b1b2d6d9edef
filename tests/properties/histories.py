"""What may happen in a session, in any order: labelers, time, the owner and workers."""

from typing import Any

from tests.properties.ballot import Effect
from tests.properties.labeling import Labeling, Step
from tests.properties.model import Waiter

from svddtune.state import keys
from svddtune.state.session import WithdrawalEffect

GONE_MS = 3_600_000

# Verb -> how often it is chosen.
VERBS = {
    # (What a failing history is reduced to.)
    "nothing": 1,
    "lease": 6,
    "lease_many": 3,
    "answer": 14,
    "answer_late": 3,
    "answer_unasked": 3,
    "correct": 2,
    "answer_again": 2,
    "skip": 4,
    "take_over": 2,
    "retract": 2,
    "extend": 1,
    "release": 2,
    "park": 1,
    "run_out": 3,
    "expire": 2,
    "pause": 1,
    "resume": 2,
    "finish": 1,
    "change_budget": 1,
    "withdraw": 2,
    "do_jobs": 10,
    "begin_jobs": 3,
    "end_job": 5,
    "lose_job": 1,
    "fail_job": 1,
}


class History(Labeling):
    """One session with its labelers, its owner and its workers."""

    def act(self, step: Step) -> None:
        """Do a step."""
        getattr(self, step.verb)(step)

    def nothing(self, step: Step) -> None:
        """No step."""

    # Time

    def run_out(self, step: Step) -> None:
        """Some leases run out; nobody has noticed yet."""
        key = keys.session(self.table.session_id, "leases")
        picked = (self.live(step.pick + i) for i in range(1 + step.value % 3))
        for lease_id in {live[0] for live in picked if live}:
            self.table.client.zincrby(key, -GONE_MS, lease_id)
            self.model.overdue.add(lease_id)

    def expire(self, step: Step) -> None:
        """A service ends leases that have run out."""
        self.table.step(
            lambda: self.house.do(self.table.store.expire(self.table.session_id)),
            self.model.reap,
            lambda left: None,
        )

    # The owner

    def pause(self, step: Step) -> None:
        """Stop asking."""
        self.owner(self.table.store.pause, self.model.pause)

    def resume(self, step: Step) -> None:
        """Go on."""
        self.owner(self.table.store.resume, self.model.resume)

    def finish(self, step: Step) -> None:
        """Compute the result. (Seldom, for it ends most of what can happen.)"""
        if step.value == 0:
            self.owner(self.table.store.finish, self.model.finish)

    def change_budget(self, step: Step) -> None:
        """More or less, possible or not."""
        self.set_budget(max(1, self.model.total() + step.value - 2))

    def set_budget(self, budget: int) -> None:
        """The number of labels to ask for."""
        self.owner(self.table.store.set_budget, self.model.set_budget, budget)

    def owner(self, act: Any, expected: Any, *further: int) -> None:
        self.table.step(
            lambda: self.house.do(act(self.table.session_id, *further)),
            lambda: expected(*further),
        )

    def withdraw(self, step: Step) -> None:
        """What is previewed changes nothing, and is what happens then. Or back again."""
        _, labeler = self.holder(step.who)
        votes = self.votes()
        if votes and step.value % 4:
            _, labeler = votes[step.pick % len(votes)]
        void = labeler not in self.model.void or step.value == 0
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

    def begin_jobs(self, step: Step) -> None:
        """Rankings are being made; the rest is done."""
        self.table.work_off()

    def do_jobs(self, step: Step) -> None:
        """All is done; the ranking is short or long."""
        self.rank((self.model.rows, 2)[step.value % 2])

    def end_job(self, step: Step) -> None:
        """One ranking is made, perhaps for what is the past by now."""
        if self.table.begun:
            self.table.end_suggest(step.pick % len(self.table.begun), 1 + step.value * 6)

    def lose_job(self, step: Step) -> None:
        """A worker falls silent."""
        if self.table.begun:
            self.table.lose_suggest(step.pick % len(self.table.begun))

    def fail_job(self, step: Step) -> None:
        """A worker gives up. (Seldom, as above.)"""
        if self.table.begun and step.value == 0:
            self.table.fail_suggest(step.pick % len(self.table.begun))

    # The end

    def drain(self) -> None:
        """With honest labelers enough every session ends."""
        self.resume(Step("resume", 0, 0, 0, False))
        # Not too far away, so that there is time for many histories.
        self.set_budget(min(self.model.rows, self.model.total() + 3))
        for who in range(self.crowd):
            # Those who are still there leave.
            holder, _ = self.holder(who)
            if holder in self.model.waiting or self.model.held(holder):
                self.release(Step("release", who, 0, 0, False))
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
