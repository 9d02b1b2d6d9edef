"""Votes in force follow their definition."""

from hypothesis import given
from tests.agreement.events import NAMES, event, logs

from svddtune.agreement import votes_in_force
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
