"""The labels in force follow from the label log: by definition, and as the service counts them."""

from dataclasses import replace

from svddtune.client import LabelEvent, Verdict
from svddtune.client.votes import LabelInForce, labels_in_force

YES, NO, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE


def event(kind: str, row: int, labeler: str, verdict: Verdict | None = None) -> LabelEvent:
    observation = f"pump-{row}" if verdict is not None else ""
    return LabelEvent("1-0", kind, observation, row, verdict, labeler, 0, "", "", None)


def verdicts(*events: LabelEvent) -> dict[int, Verdict]:
    return {label.row: label.verdict for label in labels_in_force(events)}


def test_most_votes_decide_and_unsure_is_no_vote_for_either() -> None:
    votes = [("ann", YES), ("bob", NO), ("cyd", NO), ("dan", UNSURE)]
    assert verdicts(*(event("labeled", 4, who, what) for who, what in votes)) == {4: NO}
    assert verdicts(*(event("labeled", 4, who, what) for who, what in votes[:2])) == {4: UNSURE}


def test_adjudicator_decides_whatever_the_votes_are() -> None:
    votes = [event("labeled", 4, "ann", YES), event("labeled", 4, "bob", NO)]
    decision = replace(event("labeled", 4, "ann", YES), adjudicates=True)
    assert verdicts(*votes, decision) == {4: YES}
    assert verdicts(*votes, decision, event("labeled", 4, "cyd", NO)) == {4: YES}
    assert verdicts(*votes, decision, event("withdrawn", 0, "ann")) == {4: NO}


def test_last_vote_of_a_labeler_counts_unless_it_is_taken_back() -> None:
    first, second = event("labeled", 1, "ann", YES), event("labeled", 1, "ann", NO)
    assert verdicts(first, second) == {1: NO}
    assert verdicts(first, second, event("retracted", 1, "ann", NO)) == {}
    assert verdicts(first, event("unused", 1, "bob", NO), event("repeated", 1, "ann", NO)) == {
        1: YES
    }


def test_votes_of_a_withdrawn_labeler_count_again_after_a_reinstatement() -> None:
    votes = [event("labeled", row, "eve", YES) for row in (7, 2)]
    assert verdicts(*votes, event("withdrawn", 0, "eve")) == {}
    found = labels_in_force([*votes, event("withdrawn", 0, "eve"), event("reinstated", 0, "eve")])
    assert found == (
        LabelInForce("pump-2", 2, YES, (votes[1],)),
        LabelInForce("pump-7", 7, YES, (votes[0],)),
    )
