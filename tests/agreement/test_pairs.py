"""Agreement of each two labelers and of each two sources."""

import math

import pytest
from hypothesis import given
from tests.agreement.events import event, logs

from svddtune.agreement import LabelerAccount, PairAgreement, agreement, pair_agreements
from svddtune.state.session import LabelEvent, Verdict

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE


def test_pairs_of_labelers_are_counted_by_what_both_say() -> None:
    found = pair_agreements(
        {
            1: {"ben": 1, "ann": 1},
            2: {"ann": -1, "ben": -1},
            3: {"ann": 1, "ben": -1},
            4: {"ann": -1, "ben": 1, "cem": 1},
            5: {"ann": 1, "ben": 0},
        }
    )
    assert found == [
        PairAgreement("ann", "ben", 1, 1, 1, 1),
        PairAgreement("ann", "cem", outlier_inlier=1),
        PairAgreement("ben", "cem", both_inlier=1),
    ]
    assert found[0].cohen_kappa == pytest.approx(0.0)
    assert math.isnan(found[2].cohen_kappa)


def account(log: list[LabelEvent]) -> LabelerAccount:
    found = LabelerAccount()
    found.add(log)
    return found


def test_pairs_of_sources_join_the_votes_behind_which_there_is_one_rule() -> None:
    found = account(
        [
            event("LABELED", "disk", 1, OUTLIER, provenance="rules 7"),
            event("LABELED", "ann", 1, INLIER),
            event("LABELED", "ben", 1, OUTLIER),
            event("LABELED", "disk", 2, OUTLIER, provenance="rules 8"),
            event("LABELED", "ann", 2, OUTLIER),
            # What is corrected by hand is not the rule's any more.
            event("LABELED", "disk", 3, OUTLIER, provenance="rules 7"),
            event("LABELED", "disk", 3, INLIER),
            event("LABELED", "ann", 3, INLIER),
        ]
    ).pairs_of_provenances()
    assert found == [
        PairAgreement("", "", both_inlier=1, inlier_outlier=1),
        PairAgreement("", "rules 7", both_outlier=1, inlier_outlier=1),
        PairAgreement("", "rules 8", both_outlier=1),
    ]
    assert math.isnan(found[0].cohen_kappa)


@given(logs())
def test_pairs_add_up_to_the_agreement_of_all(log: list[LabelEvent]) -> None:
    found = account(log)
    figures = agreement(found.votes_in_force())
    for pairs in (found.pairs_of_labelers(), found.pairs_of_provenances()):
        same = sum(pair.both_inlier + pair.both_outlier for pair in pairs)
        other = sum(pair.inlier_outlier + pair.outlier_inlier for pair in pairs)
        assert (same + other > 0) == (figures.observations > 0)
        if same + other:
            assert figures.observed == pytest.approx(same / (same + other))
    for pair in found.pairs_of_labelers():
        assert pair.first < pair.second
