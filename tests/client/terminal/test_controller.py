"""The controller of labelling at a terminal: what each command and each event leads to."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.client.terminal.questions import SESSION, query, session
from tests.profiles import sized

from svddtune.client import (
    Ack,
    Judgement,
    LabelCounts,
    LeaseLost,
    Query,
    SkipMode,
    Verdict,
    WrongState,
)
from svddtune.client.terminal.commands import KEYS, PROBABLY, Action
from svddtune.client.terminal.controller import GUARD_S, LabelingController
from svddtune.client.terminal.requests import (
    FetchQuery,
    Leave,
    Relabel,
    Request,
    Retract,
    Sent,
    Skip,
    Submit,
)

LATER = 100.0


def ack(applied: bool = True, total: int = 1) -> Ack:
    return Ack("", 0, applied, LabelCounts(total, 0, 0, total), session=SESSION)


def asked(**options: Any) -> tuple[LabelingController, Query]:
    """A controller that shows query 1."""
    controller = LabelingController(**options)
    assert controller.start() == [FetchQuery()]
    one = query(1)
    assert controller.came(0.0, one) == ([FetchQuery()] if controller.credit > 1 else [])
    return controller, one


def one_sent(requests: list[Request], kind: type[Any]) -> Any:
    """The one request of a kind."""
    (found,) = [request for request in requests if isinstance(request, kind)]
    return found


@pytest.mark.parametrize("verdict", Verdict)
def test_verdict_is_sent_and_the_next_query_requested(verdict: Verdict) -> None:
    controller, one = asked()
    requests = controller.command(LATER, verdict)
    assert requests == [Submit(1, one, Judgement(verdict)), FetchQuery()]
    assert controller.card is None
    controller.stored(LATER, 1, ack())
    assert [(r.kind, r.text, r.query) for r in controller.take_notices()] == [
        ("stored", verdict.value, one)
    ]
    assert controller.status.counts.total == 1


@pytest.mark.parametrize(
    ("key", "verdict", "words"),
    [("k", Verdict.INLIER, "probably inlier"), ("l", Verdict.OUTLIER, "probably outlier")],
)
def test_probable_answer_is_sent_with_its_confidence(
    key: str, verdict: Verdict, words: str
) -> None:
    controller, _ = asked()
    submit = one_sent(controller.command(LATER, KEYS[key]), Submit)
    assert submit.judgement == Judgement(verdict, PROBABLY)
    controller.stored(LATER, submit.ticket, ack())
    assert [notice.text for notice in controller.take_notices()] == [words]
    controller.command(LATER, Action.UNDO)
    assert controller.card is not None
    assert controller.card.taken_back == Judgement(verdict, PROBABLY)


@pytest.mark.parametrize("mode", [SkipMode.LATER, SkipMode.OTHERS])
def test_skip_is_sent(mode: SkipMode) -> None:
    controller, one = asked()
    assert controller.command(LATER, mode) == [Skip(1, one, mode), FetchQuery()]


def test_key_pressed_right_after_a_new_question_is_ignored() -> None:
    controller, one = asked(credit=2)
    controller.came(0.0, query(2))
    assert one_sent(controller.command(LATER, Verdict.INLIER), Submit).query is one
    assert controller.command(LATER + GUARD_S / 2, Verdict.INLIER) == []
    assert one_sent(controller.command(LATER + GUARD_S, Verdict.INLIER), Submit).query.number == 2


def test_key_pressed_without_a_question_is_not_kept_for_the_next() -> None:
    controller = LabelingController()
    controller.start()
    assert not controller.takes(Verdict.INLIER)
    assert controller.command(LATER, Verdict.INLIER) == []
    controller.came(LATER, query(1))
    assert controller.card is not None


def test_drop_asks_for_confirmation() -> None:
    controller, one = asked()
    assert controller.command(LATER, SkipMode.DROP) == []
    assert controller.confirming
    assert controller.command(LATER, Verdict.OUTLIER) == []  # anything but yes keeps it
    assert controller.card is not None
    controller.command(LATER, SkipMode.DROP)
    assert controller.command(LATER, Action.YES) == [Skip(1, one, SkipMode.DROP), FetchQuery()]


def test_drop_by_a_program_needs_no_confirmation() -> None:
    controller, one = asked(confirm_drop=False)
    assert controller.command(LATER, SkipMode.DROP) == [Skip(1, one, SkipMode.DROP), FetchQuery()]


def test_verdict_about_another_query_is_refused() -> None:
    controller, one = asked()
    assert controller.command(LATER, Verdict.INLIER, 7) == []
    assert [r.kind for r in controller.take_notices()] == ["refused"]
    assert one_sent(controller.command(LATER, Verdict.INLIER, 1), Submit).query is one


def test_undo_several_times_asks_each_question_again() -> None:
    controller, one = asked()
    controller.command(LATER, Verdict.INLIER)
    two = query(2)
    controller.came(LATER, two)
    controller.command(2 * LATER, Verdict.OUTLIER)
    three = query(3)
    controller.came(2 * LATER, three)
    assert one_sent(controller.command(3 * LATER, Action.UNDO), Retract).query is two
    assert one_sent(controller.command(3 * LATER, Action.UNDO), Retract).query is one
    assert controller.card is not None
    assert (controller.card.query, controller.card.taken_back) == (one, Judgement(Verdict.INLIER))
    again = controller.command(4 * LATER, Verdict.OUTLIER)
    assert [type(request) for request in again] == [Relabel]  # query 3 is still held: no Ask
    assert one_sent(again, Relabel).query is one
    assert one_sent(controller.command(5 * LATER, Verdict.INLIER), Relabel).query is two
    assert one_sent(controller.command(6 * LATER, Verdict.UNSURE), Submit).query is three
    assert [(d.query.number, d.judgement.verdict.value) for d in controller.history] == [
        (1, "outlier"),
        (2, "inlier"),
        (3, "unsure"),
    ]


def test_undone_query_that_is_leased_again_is_answered_as_a_query() -> None:
    controller, _ = asked()
    controller.command(LATER, Verdict.INLIER)
    controller.command(LATER, Action.UNDO)
    anew = query(1, lease_id="another")
    controller.came(LATER, anew)
    assert len(controller.cards) == 1
    assert one_sent(controller.command(2 * LATER, Verdict.OUTLIER), Submit).query is anew


def test_query_leased_anew_while_its_second_answer_is_on_the_way_is_not_shown() -> None:
    controller, _ = asked()
    controller.command(LATER, Verdict.INLIER)
    controller.command(LATER, Action.UNDO)
    relabel = one_sent(controller.command(2 * LATER, Verdict.OUTLIER), Relabel)
    anew = query(1, lease_id="another")
    skip = one_sent(controller.came(2 * LATER, anew), Skip)
    assert (skip.query, skip.mode, controller.card) == (anew, SkipMode.LATER, None)
    controller.refused(2 * LATER, skip.ticket, LeaseLost("It is settled"))
    controller.stored(2 * LATER, relabel.ticket, ack())
    assert [r.text for r in controller.take_notices()] == ["outlier"]


def test_undone_query_can_be_left_open_and_is_then_asked_by_the_service() -> None:
    controller, _ = asked()
    controller.command(LATER, Verdict.INLIER)
    controller.command(LATER, Action.UNDO)
    assert controller.command(2 * LATER, SkipMode.OTHERS) == []
    assert controller.card is not None
    assert controller.command(2 * LATER, SkipMode.LATER) == []
    assert controller.card is None


def test_undo_without_an_answer_or_too_late_is_reported() -> None:
    controller, _ = asked()
    assert controller.command(LATER, Action.UNDO) == []
    controller.command(LATER, Verdict.INLIER)
    controller.came(LATER, query(2))
    undo = one_sent(controller.command(2 * LATER, Action.UNDO), Retract)
    controller.refused(2 * LATER, undo.ticket, WrongState("The session is completed"))
    assert controller.card is not None
    assert controller.card.query.number == 2
    assert [r.kind for r in controller.take_notices()] == ["refused", "refused"]


def test_undo_of_an_answer_without_a_vote_asks_again() -> None:
    controller, one = asked()
    controller.command(LATER, Verdict.UNSURE)
    undo = one_sent(controller.command(LATER, Action.UNDO), Retract)
    controller.refused(LATER, undo.ticket, WrongState("No vote", reason="NOT_LABELED"))
    assert controller.card is not None
    assert controller.card.query is one


@pytest.mark.parametrize("reason", ["EXPIRED", "ANSWERED_BY_OTHER", "SESSION_ENDED", "", "NEW"])
def test_lost_question_disappears_and_the_next_is_requested(reason: str) -> None:
    controller, one = asked()
    assert controller.lost(LATER, one, reason) == [FetchQuery()]
    assert controller.card is None
    (notice,) = controller.take_notices()
    assert (notice.kind, notice.query) == ("lost", one)
    assert notice.text


@pytest.mark.parametrize("refused", [True, False])
def test_answer_that_does_not_count_is_reported_and_cannot_be_undone(refused: bool) -> None:
    controller, _ = asked()
    controller.command(LATER, Verdict.INLIER)
    if refused:
        controller.refused(LATER, 1, LeaseLost("The query went to somebody else"))
    else:
        controller.stored(LATER, 1, ack(applied=False))
    assert [r.kind for r in controller.take_notices()] == ["refused" if refused else "lost"]
    assert controller.history == []


def test_quitting_waits_for_what_is_not_stored() -> None:
    controller, _ = asked()
    controller.command(LATER, Verdict.INLIER)
    assert controller.command(LATER, Action.QUIT) == []
    assert controller.command(LATER, Action.UNDO) == []
    assert controller.stored(LATER, 1, ack()) == [Leave()]


def test_end_of_the_session_ends_the_labeling() -> None:
    controller, _ = asked()
    assert controller.ended(LATER, "FINISHED") == [Leave()]
    assert controller.card is None


def test_any_key_closes_the_help() -> None:
    controller, _ = asked()
    controller.command(LATER, Action.HELP)
    assert controller.command(LATER, Verdict.INLIER) == []
    assert not controller.helping
    controller.command(LATER, Action.HELP)
    controller.mistyped("k")
    assert not controller.helping
    assert controller.take_notices() == []
    controller.mistyped("k")
    assert [r.kind for r in controller.take_notices()] == ["refused"]


def test_connection_is_lost_only_once_it_was_there() -> None:
    controller = LabelingController()
    controller.status.update(connected=False, sessions={})
    assert controller.status.connected is None
    controller.status.update(connected=True, sessions={SESSION: session()})
    assert controller.status.session_name == SESSION
    assert controller.status.counts.total == 7
    controller.status.update(connected=False, sessions={SESSION: session()})
    assert controller.status.connected is False


class LabelingRules(RuleBasedStateMachine):
    """A labeler who presses anything, and a service that does anything it may."""

    def __init__(self) -> None:
        super().__init__()
        self.credit = 2
        self.controller = LabelingController(credit=self.credit, guard_s=0.0)
        self.now = 1.0
        self.number = 0
        self.leased: dict[str, Query] = {}
        self.votes: dict[str, Judgement] = {}
        self.waiting: list[Sent] = []
        self.asks = 0
        self.left = False
        self.handle(self.controller.start())

    def handle(self, requests: list[Request]) -> None:
        self.now += 1.0
        for request in requests:
            assert not self.left, "nothing comes after the last request"
            if isinstance(request, FetchQuery):
                self.asks += 1
            elif isinstance(request, Leave):
                assert not self.waiting
                self.left = True
            else:
                if isinstance(request, Submit | Skip):
                    assert self.leased.pop(request.query.lease_id) is request.query
                self.waiting.append(request)
        assert self.asks <= 1
        assert self.asks + len(self.leased) <= self.credit

    @precondition(lambda self: not self.left)
    @rule(command=st.sampled_from([*KEYS.values()]))
    def press(self, command: Any) -> None:
        self.handle(self.controller.command(self.now, command))

    @precondition(lambda self: self.asks and not self.left)
    @rule(again=st.booleans())
    def assign(self, again: bool) -> None:
        self.asks -= 1
        self.number += 1
        undone = [card.query for card in self.controller.cards if not card.leased]
        undone += [sent.query for sent in self.waiting if isinstance(sent, Relabel)]
        if again and undone:
            one = query(undone[-1].number, lease_id=f"again-{self.number}")
        else:
            one = query(self.number)
        self.leased[one.lease_id] = one
        self.handle(self.controller.came(self.now, one))

    @precondition(lambda self: self.leased and not self.left)
    @rule()
    def revoke(self) -> None:
        lease_id = next(iter(self.leased))
        self.handle(self.controller.lost(self.now, self.leased.pop(lease_id), "EXPIRED"))

    @precondition(lambda self: self.waiting and not self.left)
    @rule(refuse=st.booleans())
    def settle(self, refuse: bool) -> None:
        sent = self.waiting.pop(0)
        if refuse:
            self.handle(self.controller.refused(self.now, sent.ticket, WrongState("no")))
            return
        if isinstance(sent, Submit | Relabel):
            self.votes[sent.query.observation_id] = sent.judgement
        elif isinstance(sent, Retract):
            self.votes.pop(sent.query.observation_id, None)
        self.handle(self.controller.stored(self.now, sent.ticket, ack()))

    @precondition(lambda self: self.left)
    @rule()
    def nothing(self) -> None:
        """It is over."""

    @invariant()
    def each_leased_query_is_shown_once(self) -> None:
        if self.left:
            return
        held = [card.query.lease_id for card in self.controller.cards if card.leased]
        assert sorted(held) == sorted(self.leased)
        names = [card.query.observation_id for card in self.controller.cards]
        assert len(names) == len(set(names))

    @invariant()
    def what_was_said_last_is_what_is_stored(self) -> None:
        if not self.waiting:
            said = {done.query.observation_id: done.judgement for done in self.controller.history}
            assert said.items() <= self.votes.items()

    @invariant()
    def somebody_always_waits_for_something(self) -> None:
        # Else the labelling would hang: there is a question, one is asked for, or it ends.
        assert self.controller.cards or self.asks or self.waiting or self.left


TestLabelingRules = LabelingRules.TestCase
TestLabelingRules.settings = settings(max_examples=sized(60), stateful_step_count=40)
