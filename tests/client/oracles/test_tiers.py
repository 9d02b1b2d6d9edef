import io
import sys
from collections.abc import Callable

import pytest
from tests.client.oracles.scene import query
from tests.client.scene import blob

from svddtune.client import (
    Command,
    EmbeddedStack,
    InvalidInput,
    KnownLabels,
    Query,
    SimulatedLabeler,
    SkipMode,
    TerminalPrompt,
    Tier,
    Tiers,
    Verdict,
    tune,
)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., TerminalPrompt]:
    """A person who types these words, one for each question."""

    def terminal(*words: str) -> TerminalPrompt:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{word}\n" for word in words)))
        return TerminalPrompt()

    return terminal


def test_next_tier_is_asked_where_one_abstains(typed: Callable[..., TerminalPrompt]) -> None:
    def rule(q: Query) -> object:
        return "outlier" if q.row == 1 else None

    tiers = Tiers(
        [
            KnownLabels({"0": 1}),
            Tier(rule, cost=0.5),
            SimulatedLabeler([1] * 5, name="intern", pass_on=1.0),
            Tier(typed("i", "u", "s", "q"), name="analyst", cost=2.0),
        ]
    )
    said = [tiers(query(row)) for row in (0, 1, 2, 3, 4, 2)]
    assert said == [
        Verdict.INLIER,
        Verdict.OUTLIER,
        Verdict.INLIER,
        Verdict.UNSURE,
        SkipMode.LATER,
        Command.STOP,
    ]
    known, ruled, intern, analyst = tiers.report()
    assert (known.name, known.asked, known.inlier, known.abstained) == ("1: KnownLabels", 6, 1, 5)
    assert (ruled.name, ruled.asked, ruled.outlier, ruled.cost) == ("2: rule", 5, 1, 0.5)
    assert (intern.name, intern.asked, intern.abstained, intern.cost) == ("intern", 4, 4, 0.0)
    assert (analyst.name, analyst.asked, analyst.inlier, analyst.unsure) == ("analyst", 4, 1, 1)
    assert analyst.cost == 4.0
    assert tiers.cost == 4.5


def test_cost_is_the_oracles_own_unless_the_tier_has_one() -> None:
    own = SimulatedLabeler([1, -1], cost={"inlier": 1, "outlier": 10})
    tiers = Tiers([own])
    tiers(query(0))
    tiers(query(1))
    assert tiers.cost == 11.0


def test_labels_as_array_or_mapping_are_a_tier() -> None:
    tiers = Tiers([[-1, 0, 0], {"1": "outlier"}])
    assert [tiers(query(row)) for row in range(3)] == [
        Verdict.OUTLIER,
        Verdict.OUTLIER,
        SkipMode.DROP,
    ]


def test_query_from_which_all_tiers_abstain_gets_the_otherwise_mode() -> None:
    assert Tiers([lambda _: None])(query(0)) is SkipMode.DROP
    others = Tiers([lambda _: SkipMode.OTHERS], otherwise=SkipMode.OTHERS)
    assert others(query(0)) is SkipMode.OTHERS


def test_unsure_stands_unless_it_abstains() -> None:
    ladder = [lambda _: "unsure", lambda q: None if q.row else "inlier"]
    assert Tiers(ladder)(query(0)) is Verdict.UNSURE
    passing = Tiers(ladder, unsure_abstains=True)
    assert passing(query(0)) is Verdict.INLIER
    assert passing(query(1)) is Verdict.UNSURE  # somebody looked, nobody knew more


def test_no_tier_and_no_verdict_are_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        Tiers([])
    assert refused.value.message == "Tiers need at least one oracle"
    with pytest.raises(InvalidInput, match="'maybe' is not a verdict"):
        Tiers([lambda _: "maybe"])(query(0))


def test_undo_with_nothing_to_undo_asks_again(typed: Callable[..., TerminalPrompt]) -> None:
    tiers = Tiers([{"0": 1}, typed("undo", "o")])
    assert tiers(query(0)) is Verdict.INLIER
    assert tiers(query(1)) is Verdict.OUTLIER


@pytest.mark.integration
def test_undo_goes_back_to_the_persons_own_answer(stack: EmbeddedStack) -> None:
    """Through `tune`: what a program answered in between is neither lost nor asked again."""
    X, y = blob(20)
    shown: list[int] = []
    program: list[int] = []

    def person(q: Query) -> object:
        shown.append(q.row)
        if len(shown) == 2:
            return Command.UNDO
        if len(shown) == 1:
            return -int(y[q.row])  # a slip
        return int(y[q.row])

    def rule(q: Query) -> object:
        number = len(program)
        program.append(q.row)
        return int(y[q.row]) if number in (1, 2) else None

    tiers = Tiers([rule, Tier(person, name="person", cost=1.0)])
    tuned = tune(X, tiers, budget=8, server=stack.address)
    # Query 1 to the person, 2 and 3 by the rule, then the person undoes 1 at query 4.
    assert shown[2] == shown[0]
    assert shown[3] == shown[1]
    assert len(program) == len(set(program)) + 1  # query 4 comes again
    assert [a.verdict for a in tuned.asked] == [Verdict.of(int(y[a.row])) for a in tuned.asked]
    assert tuned.quality.counts.total == 8
    ruled, own = tiers.report()
    assert ruled.inlier + ruled.outlier == 2
    assert own.inlier + own.outlier == 6
    assert own.asked == 8
    assert own.cost == 7.0


@pytest.mark.integration
def test_labels_first_then_a_simulated_labeler(stack: EmbeddedStack) -> None:
    X, y = blob(21)
    known = {str(row): int(y[row]) for row in range(0, len(y), 3)}
    ladder = Tiers([known, SimulatedLabeler(y, name="analyst", cost=2.5)])
    tuned = tune(X, ladder, budget=15, server=stack.address)
    by_labels, by_analyst = ladder.report()
    assert by_labels.inlier + by_labels.outlier == sum(a.row % 3 == 0 for a in tuned.asked)
    assert by_analyst.inlier + by_analyst.outlier == by_labels.abstained
    assert ladder.cost == 2.5 * by_labels.abstained > 0
    assert [a.verdict for a in tuned.asked] == [Verdict.of(int(y[a.row])) for a in tuned.asked]
