"""The labeler's desk: what each command and each piece of news leads to."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.client.terminal.questions import SESSION, query, session
from tests.profiles import sized

from svddtune.client import Ack, LabelCounts, LeaseLost, Query, SkipMode, Verdict, WrongState
from svddtune.client.terminal.commands import Key
from svddtune.client.terminal.controller import GUARD_S, Desk
from svddtune.client.terminal.requests import (
    Ask,
    Leave,
    Order,
    Relabel,
    Retract,
    Sent,
    Skip,
    Submit,
)

LATER = 100.0


def ack(applied: bool = True, total: int = 1) -> Ack:
    return Ack("", 0, applied, LabelCounts(total, 0, 0, total), session=SESSION)


def asked(**options: Any) -> tuple[Desk, Query]:
    """A desk with query 1 on it."""
    desk = Desk(**options)
    assert desk.start() == [Ask()]
    one = query(1)
    assert desk.came(0.0, one) == ([Ask()] if desk.credit > 1 else [])
    return desk, one


def one_sent(orders: list[Order], kind: type[Any]) -> Any:
    """The one order of a kind."""
    (found,) = [order for order in orders if isinstance(order, kind)]
    return found


@pytest.mark.parametrize("verdict", Verdict)
def test_verdict_is_sent_and_the_next_query_asked_for(verdict: Verdict) -> None:
    desk, one = asked()
    orders = desk.command(LATER, verdict)
    assert orders == [Submit(1, one, verdict), Ask()]
    assert desk.card is None
    desk.stored(LATER, 1, ack())
    assert [(r.kind, r.text, r.query) for r in desk.heard()] == [("stored", verdict.value, one)]
    assert desk.known.counts.total == 1


@pytest.mark.parametrize("mode", [SkipMode.LATER, SkipMode.OTHERS])
def test_skip_is_sent(mode: SkipMode) -> None:
    desk, one = asked()
    assert desk.command(LATER, mode) == [Skip(1, one, mode), Ask()]


def test_key_meant_for_the_question_before_is_no_answer() -> None:
    desk, one = asked(credit=2)
    desk.came(0.0, query(2))
    assert one_sent(desk.command(LATER, Verdict.INLIER), Submit).query is one
    assert desk.command(LATER + GUARD_S / 2, Verdict.INLIER) == []
    assert one_sent(desk.command(LATER + GUARD_S, Verdict.INLIER), Submit).query.number == 2


def test_key_without_a_question_is_no_answer_to_the_next() -> None:
    desk = Desk()
    desk.start()
    assert not desk.takes(Verdict.INLIER)
    assert desk.command(LATER, Verdict.INLIER) == []
    desk.came(LATER, query(1))
    assert desk.card is not None


def test_drop_asks_first() -> None:
    desk, one = asked()
    assert desk.command(LATER, SkipMode.DROP) == []
    assert desk.confirming
    assert desk.command(LATER, Verdict.OUTLIER) == []  # anything but yes keeps it
    assert desk.card is not None
    desk.command(LATER, SkipMode.DROP)
    assert desk.command(LATER, Key.YES) == [Skip(1, one, SkipMode.DROP), Ask()]


def test_programs_drop_without_a_question() -> None:
    desk, one = asked(confirm_drop=False)
    assert desk.command(LATER, SkipMode.DROP) == [Skip(1, one, SkipMode.DROP), Ask()]


def test_verdict_about_another_query_is_refused() -> None:
    desk, one = asked()
    assert desk.command(LATER, Verdict.INLIER, 7) == []
    assert [r.kind for r in desk.heard()] == ["refused"]
    assert one_sent(desk.command(LATER, Verdict.INLIER, 1), Submit).query is one


def test_undo_goes_back_several_steps_and_on_again() -> None:
    desk, one = asked()
    desk.command(LATER, Verdict.INLIER)
    two = query(2)
    desk.came(LATER, two)
    desk.command(2 * LATER, Verdict.OUTLIER)
    three = query(3)
    desk.came(2 * LATER, three)
    assert one_sent(desk.command(3 * LATER, Key.UNDO), Retract).query is two
    assert one_sent(desk.command(3 * LATER, Key.UNDO), Retract).query is one
    assert desk.card is not None
    assert (desk.card.query, desk.card.taken_back) == (one, Verdict.INLIER)
    again = desk.command(4 * LATER, Verdict.OUTLIER)
    assert [type(order) for order in again] == [Relabel]  # query 3 is still held: no Ask
    assert one_sent(again, Relabel).query is one
    assert one_sent(desk.command(5 * LATER, Verdict.INLIER), Relabel).query is two
    assert one_sent(desk.command(6 * LATER, Verdict.UNSURE), Submit).query is three
    assert [(d.query.number, d.verdict.value) for d in desk.history] == [
        (1, "outlier"),
        (2, "inlier"),
        (3, "unsure"),
    ]


def test_undone_query_that_is_leased_again_is_answered_as_a_query() -> None:
    desk, _ = asked()
    desk.command(LATER, Verdict.INLIER)
    desk.command(LATER, Key.UNDO)
    anew = query(1, lease_id="another")
    desk.came(LATER, anew)
    assert len(desk.hand) == 1
    assert one_sent(desk.command(2 * LATER, Verdict.OUTLIER), Submit).query is anew


def test_query_leased_anew_while_its_second_answer_is_on_the_way_is_not_shown() -> None:
    desk, _ = asked()
    desk.command(LATER, Verdict.INLIER)
    desk.command(LATER, Key.UNDO)
    relabel = one_sent(desk.command(2 * LATER, Verdict.OUTLIER), Relabel)
    anew = query(1, lease_id="another")
    skip = one_sent(desk.came(2 * LATER, anew), Skip)
    assert (skip.query, skip.mode, desk.card) == (anew, SkipMode.LATER, None)
    desk.refused(2 * LATER, skip.ticket, LeaseLost("It is settled"))
    desk.stored(2 * LATER, relabel.ticket, ack())
    assert [r.text for r in desk.heard()] == ["outlier"]


def test_undone_query_can_be_left_open_and_is_then_asked_by_the_service() -> None:
    desk, _ = asked()
    desk.command(LATER, Verdict.INLIER)
    desk.command(LATER, Key.UNDO)
    assert desk.command(2 * LATER, SkipMode.OTHERS) == []
    assert desk.card is not None
    assert desk.command(2 * LATER, SkipMode.LATER) == []
    assert desk.card is None


def test_nothing_to_undo_and_too_late_to_undo_are_said() -> None:
    desk, _ = asked()
    assert desk.command(LATER, Key.UNDO) == []
    desk.command(LATER, Verdict.INLIER)
    desk.came(LATER, query(2))
    undo = one_sent(desk.command(2 * LATER, Key.UNDO), Retract)
    desk.refused(2 * LATER, undo.ticket, WrongState("The session is completed"))
    assert desk.card is not None
    assert desk.card.query.number == 2
    assert [r.kind for r in desk.heard()] == ["refused", "refused"]


def test_undo_of_what_has_no_vote_asks_again_all_the_same() -> None:
    desk, one = asked()
    desk.command(LATER, Verdict.UNSURE)
    undo = one_sent(desk.command(LATER, Key.UNDO), Retract)
    desk.refused(LATER, undo.ticket, WrongState("No vote", reason="NOT_LABELED"))
    assert desk.card is not None
    assert desk.card.query is one


@pytest.mark.parametrize("reason", ["EXPIRED", "ANSWERED_BY_OTHER", "SESSION_ENDED", "", "NEW"])
def test_lost_question_is_taken_off_and_the_next_asked_for(reason: str) -> None:
    desk, one = asked()
    assert desk.lost(LATER, one, reason) == [Ask()]
    assert desk.card is None
    (remark,) = desk.heard()
    assert (remark.kind, remark.query) == ("lost", one)
    assert remark.text


@pytest.mark.parametrize("refused", [True, False])
def test_answer_that_does_not_count_is_said_and_cannot_be_undone(refused: bool) -> None:
    desk, _ = asked()
    desk.command(LATER, Verdict.INLIER)
    if refused:
        desk.refused(LATER, 1, LeaseLost("The query went to somebody else"))
    else:
        desk.stored(LATER, 1, ack(applied=False))
    assert [r.kind for r in desk.heard()] == ["refused" if refused else "lost"]
    assert desk.history == []


def test_quitting_waits_for_what_is_not_stored() -> None:
    desk, _ = asked()
    desk.command(LATER, Verdict.INLIER)
    assert desk.command(LATER, Key.QUIT) == []
    assert desk.command(LATER, Key.UNDO) == []
    assert desk.stored(LATER, 1, ack()) == [Leave()]


def test_end_of_the_session_ends_the_sitting() -> None:
    desk, _ = asked()
    assert desk.ended(LATER, "FINISHED") == [Leave()]
    assert desk.card is None


def test_help_covers_the_question_and_any_key_takes_it_away() -> None:
    desk, _ = asked()
    desk.command(LATER, Key.HELP)
    assert desk.command(LATER, Verdict.INLIER) == []
    assert not desk.helping
    desk.command(LATER, Key.HELP)
    desk.mistyped("k")
    assert not desk.helping
    assert desk.heard() == []
    desk.mistyped("k")
    assert [r.kind for r in desk.heard()] == ["refused"]


def test_connection_is_lost_only_once_it_was_there() -> None:
    desk = Desk()
    desk.known.told(connected=False, sessions={})
    assert desk.known.connected is None
    desk.known.told(connected=True, sessions={SESSION: session()})
    assert desk.known.session_name == SESSION
    assert desk.known.counts.total == 7
    desk.known.told(connected=False, sessions={SESSION: session()})
    assert desk.known.connected is False


class Sitting(RuleBasedStateMachine):
    """A labeler who presses anything, and a service that does anything it may."""

    def __init__(self) -> None:
        super().__init__()
        self.credit = 2
        self.desk = Desk(credit=self.credit, guard_s=0.0)
        self.now = 1.0
        self.number = 0
        self.leased: dict[str, Query] = {}
        self.votes: dict[str, Verdict] = {}
        self.waiting: list[Sent] = []
        self.asks = 0
        self.left = False
        self.obey(self.desk.start())

    def obey(self, orders: list[Order]) -> None:
        self.now += 1.0
        for order in orders:
            assert not self.left, "nothing comes after the last order"
            if isinstance(order, Ask):
                self.asks += 1
            elif isinstance(order, Leave):
                assert not self.waiting
                self.left = True
            else:
                if isinstance(order, Submit | Skip):
                    assert self.leased.pop(order.query.lease_id) is order.query
                self.waiting.append(order)
        assert self.asks <= 1
        assert self.asks + len(self.leased) <= self.credit

    @precondition(lambda self: not self.left)
    @rule(command=st.sampled_from([*Verdict, *SkipMode, *Key]))
    def press(self, command: Any) -> None:
        self.obey(self.desk.command(self.now, command))

    @precondition(lambda self: self.asks and not self.left)
    @rule(again=st.booleans())
    def assign(self, again: bool) -> None:
        self.asks -= 1
        self.number += 1
        undone = [card.query for card in self.desk.hand if not card.leased]
        undone += [sent.query for sent in self.waiting if isinstance(sent, Relabel)]
        if again and undone:
            one = query(undone[-1].number, lease_id=f"again-{self.number}")
        else:
            one = query(self.number)
        self.leased[one.lease_id] = one
        self.obey(self.desk.came(self.now, one))

    @precondition(lambda self: self.leased and not self.left)
    @rule()
    def revoke(self) -> None:
        lease_id = next(iter(self.leased))
        self.obey(self.desk.lost(self.now, self.leased.pop(lease_id), "EXPIRED"))

    @precondition(lambda self: self.waiting and not self.left)
    @rule(refuse=st.booleans())
    def settle(self, refuse: bool) -> None:
        sent = self.waiting.pop(0)
        if refuse:
            self.obey(self.desk.refused(self.now, sent.ticket, WrongState("no")))
            return
        if isinstance(sent, Submit | Relabel):
            self.votes[sent.query.observation_id] = sent.verdict
        elif isinstance(sent, Retract):
            self.votes.pop(sent.query.observation_id, None)
        self.obey(self.desk.stored(self.now, sent.ticket, ack()))

    @precondition(lambda self: self.left)
    @rule()
    def nothing(self) -> None:
        """It is over."""

    @invariant()
    def what_is_leased_lies_on_the_desk_once(self) -> None:
        if self.left:
            return
        held = [card.query.lease_id for card in self.desk.hand if card.leased]
        assert sorted(held) == sorted(self.leased)
        names = [card.query.observation_id for card in self.desk.hand]
        assert len(names) == len(set(names))

    @invariant()
    def what_was_said_last_is_what_is_stored(self) -> None:
        if not self.waiting:
            said = {done.query.observation_id: done.verdict for done in self.desk.history}
            assert said.items() <= self.votes.items()

    @invariant()
    def somebody_always_waits_for_something(self) -> None:
        # Else the sitting would hang: there is a question, one is asked for, or it ends.
        assert self.desk.hand or self.asks or self.waiting or self.left


TestSitting = Sitting.TestCase
TestSitting.settings = settings(max_examples=sized(60), stateful_step_count=40)
