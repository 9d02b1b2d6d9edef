"""Random histories of a session: actions of labelers, owner and workers, and expiry."""

from collections import Counter
from typing import Any

from tests.properties.ballot import Effect
from tests.properties.labeling import Labeling, Step
from tests.properties.model import Waiter

from svddtune.state import keys
from svddtune.state.session import SessionId, WithdrawalEffect

GONE_MS = 3_600_000

# Verb -> weight.
VERBS = {
    # Hypothesis shrinks steps to this one.
    "nothing": 1,
    "lease": 6,
    "lease_many": 3,
    "answer": 14,
    "decide": 3,
    "dissent": 3,
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
    "reopen": 2,
    "do_jobs": 10,
    "begin_jobs": 3,
    "end_job": 5,
    "lose_job": 1,
    "fail_job": 1,
}

# Labelers who disagree, and adjudicators.
QUARREL = VERBS | {
    "lease": 10,
    "do_jobs": 14,
    "decide": 25,
    "dissent": 25,
    "answer": 6,
    "correct": 4,
    "answer_unasked": 12,
    "pause": 0,
    "finish": 0,
    "fail_job": 0,
}


class History(Labeling):
    """A session with labelers, owner and workers."""

    def act(self, step: Step) -> None:
        """Run a step."""
        getattr(self, step.verb)(step)

    def nothing(self, step: Step) -> None:
        """Do nothing."""

    # Time

    def run_out(self, step: Step) -> None:
        """Let some leases expire, before any service has noticed."""
        key = keys.session(self.checked.session_id, "leases")
        picked = (self.live_lease(step.pick + i) for i in range(1 + step.value % 3))
        for lease_id in {live[0] for live in picked if live}:
            self.checked.client.zincrby(key, -GONE_MS, lease_id)
            self.model.overdue.add(lease_id)

    def expire(self, step: Step) -> None:
        """End expired leases, as a service does."""
        self.checked.step(
            lambda: self.backend.run(self.checked.store.expire(self.checked.session_id)),
            self.model.reap,
            lambda left: None,
        )

    # The owner

    def pause(self, step: Step) -> None:
        """Pause the session."""
        self.owner(self.checked.store.pause, self.model.pause)

    def resume(self, step: Step) -> None:
        """Resume the session."""
        self.owner(self.checked.store.resume, self.model.resume)

    def finish(self, step: Step) -> None:
        """Finish the session, but rarely, because few verbs have an effect afterwards."""
        if step.value == 0:
            self.owner(self.checked.store.finish, self.model.finish)

    def change_budget(self, step: Step) -> None:
        """Set a larger or smaller budget, valid or not."""
        self.set_budget(max(1, self.model.total() + step.value - 2))

    def set_budget(self, budget: int) -> None:
        """Set the budget."""

        def update(session_id: SessionId, budget: int) -> Any:
            return self.checked.store.update(session_id, budget=budget)

        self.owner(update, self.model.set_budget, budget)

    def owner(self, act: Any, expected: Any, *further: int) -> None:
        self.checked.step(
            lambda: self.backend.run(act(self.checked.session_id, *further)),
            lambda: expected(*further),
        )

    def withdraw(self, step: Step) -> None:
        """Preview and withdraw a labeler, or reinstate it. The preview must equal the effect."""
        _, labeler = self.holder(step.who)
        votes = self.votes()
        if votes and step.value % 4:
            _, labeler = votes[step.pick % len(votes)]
        void = labeler not in self.model.void or step.value == 0
        store, session_id = self.checked.store, self.checked.session_id
        if void:
            self.checked.step(
                lambda: self.backend.run(store.preview_withdrawal(session_id, labeler, "0" * 32)),
                lambda: self.model.effect(labeler, void),
                effect_of,
            )
        act = store.withdraw if void else store.reinstate
        self.checked.step(
            lambda: self.backend.run(act(session_id, labeler, by="owner")),
            lambda: self.model.withdraw(labeler, void),
            effect_of,
        )

    def reopen(self, step: Step) -> None:
        """Ask again about a row that was voted on or dropped or, rarely, about any row."""
        rows = sorted({row for row, _ in self.votes()} | self.model.dropped)
        row = rows[step.pick % len(rows)] if rows and step.value else step.pick % self.model.rows
        store, session_id = self.checked.store, self.checked.session_id
        self.checked.step(
            lambda: self.backend.run(store.reopen(session_id, row, by="owner")),
            lambda: self.model.reopen(row),
            lambda done: (done.query, done.retracted_votes),
        )

    # Workers

    def begin_jobs(self, step: Step) -> None:
        """Begin ranking jobs, and complete all other jobs."""
        self.checked.work_off()

    def do_jobs(self, step: Step) -> None:
        """Complete all jobs, with a short or a long ranking."""
        self.rank((self.model.rows, 2)[step.value % 2])

    def end_job(self, step: Step) -> None:
        """Commit one ranking, which may be outdated."""
        if self.checked.begun:
            self.checked.end_suggest(step.pick % len(self.checked.begun), 1 + step.value * 6)

    def lose_job(self, step: Step) -> None:
        """Lose a worker."""
        if self.checked.begun:
            self.checked.lose_suggest(step.pick % len(self.checked.begun))

    def fail_job(self, step: Step) -> None:
        """Fail a job, but rarely, because it fails the session."""
        if self.checked.begun and step.value == 0:
            self.checked.fail_suggest(step.pick % len(self.checked.begun))

    # The end

    def reached(self) -> Counter[str]:
        """What the log has of the seldom, by kind."""
        found: Counter[str] = Counter()
        for kind, _, _, _, query, _, decides in self.checked.stored.log:
            found["decisions"] += decides
            found["answers to control items"] += kind == "CHECKED" and query > 0
            found["unasked answers on control items"] += kind == "CHECKED" and query == 0
            found["repeats"] += kind == "REPEATED"
        return found

    def drain(self) -> None:
        """Complete the session with truthful labelers."""
        self.resume(Step("resume", 0, 0, 0, False))
        # Few further labels, so that there is time for many histories.
        self.set_budget(min(self.model.rows, self.model.total() + 3))
        for holder, labeler in self.holders():
            # Remaining holders leave.
            if holder in self.model.waiting or self.model.held(holder):
                self.send_ids(holder, labeler, [], keep=False)
        # (Who stays may be given queries, and answers them when its turn comes again.)
        for turn in range(8 * self.model.rows + 40):
            while self.checked.begun:
                self.checked.end_suggest(0, self.model.rows)
            self.checked.work_off()
            if self.model.state in ("COMPLETED", "FAILED"):
                return
            # A labeler that has neither voted nor skipped before.
            name = f"truthful{turn % 20}"
            if self.model.rules.adjudicators and turn % 3 == 2:
                name = "judge"
            waiter = Waiter(f"{name}/", name, 2)
            self.ask(waiter, stays=turn % 2 == 0)
            while held := self.model.held(waiter.holder):
                query, lease = self.model.leases()[held[0]]
                self.answer_to((held[0], query.n, *lease), 1, 0)
        raise AssertionError("the session does not end")


def effect_of(effect: WithdrawalEffect) -> Effect:
    """The effect as a value of the model."""
    return Effect(
        effect.votes,
        effect.labels_lost,
        effect.labels_changed,
        effect.labels_gained,
        effect.queries_reopened,
        (effect.before.inlier, effect.before.outlier, effect.before.unsure),
        (effect.after.inlier, effect.after.outlier, effect.after.unsure),
    )
