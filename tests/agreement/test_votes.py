"""Votes in force follow their definition."""

from dataclasses import replace

from hypothesis import given
from tests.agreement.events import NAMES, event, logs

from svddtune.agreement import VoteLog, votes_in_force
from svddtune.state.session import LabelEvent, Verdict


def last(log: list[LabelEvent], *kinds: str, labeler: str, row: int | None = None) -> LabelEvent:
    """The last event of these kinds on a labeler and, if given, a row; else a blank one."""
    found = [
        one
        for one in log
        if one.kind in kinds and one.labeler == labeler and row in (None, one.row)
    ]
    return found[-1] if found else event("NONE", labeler)


@given(logs())
def test_latest_vote_counts_unless_it_was_retracted_or_its_labeler_withdrawn(
    log: list[LabelEvent],
) -> None:
    expected: dict[int, dict[str, Verdict]] = {}
    for row in range(4):
        for name in NAMES:
            vote = last(log, "LABELED", "RETRACTED", labeler=name, row=row)
            withdrawn = last(log, "WITHDRAWN", "REINSTATED", labeler=name).kind == "WITHDRAWN"
            if vote.kind == "LABELED" and not withdrawn:
                expected.setdefault(row, {})[name] = vote.verdict
    assert votes_in_force(log) == expected


def test_reinstated_labeler_gets_its_votes_back() -> None:
    log = [
        event("LABELED", "ann", 1, Verdict.OUTLIER),
        event("WITHDRAWN", "ann"),
        event("LABELED", "ben", 1),
    ]
    assert votes_in_force(log) == {1: {"ben": Verdict.INLIER}}
    log.append(event("REINSTATED", "ann"))
    assert votes_in_force(log) == {1: {"ann": Verdict.OUTLIER, "ben": Verdict.INLIER}}


def test_only_the_last_decision_in_force_decides() -> None:
    log = VoteLog()
    first = replace(event("LABELED", "ann", 1, Verdict.OUTLIER), adjudicates=True)
    log.add(event("LABELED", "ben", 1))
    log.add(first)
    log.add(replace(first, labeler="cem", verdict=Verdict.UNSURE))
    assert log.that_decide() == {1: {"cem": Verdict.UNSURE}}
    log.add(event("WITHDRAWN", "cem"))
    assert log.that_decide() == {1: {"ann": Verdict.OUTLIER}}
    log.add(event("RETRACTED", "ann", 1))
    assert log.that_decide() == {1: {"ben": Verdict.INLIER}}
