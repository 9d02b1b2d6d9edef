"""Reports on labelers and the summary of their agreement."""

import math
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from tests.agreement.events import NAMES, event, logs

from svddtune.agreement import (
    Agreement,
    LabelerReport,
    agreement,
    labeler_reports,
    votes_in_force,
)
from svddtune.state.session import LabelCounts, LabelEvent, Verdict

INLIER, OUTLIER, UNSURE = Verdict.INLIER, Verdict.OUTLIER, Verdict.UNSURE


def report(log: list[LabelEvent], labeler: str = "ann") -> LabelerReport:
    """The report on one labeler."""
    (found,) = (one for one in labeler_reports(log) if one.labeler == labeler)
    return found


def test_answers_of_labeler_are_counted_by_outcome() -> None:
    log = [
        event("LABELED", "ann", 1, query=1, answer_seconds=2.0, time_ms=10),
        event("LABELED", "ann", 2, OUTLIER, query=2, answer_seconds=8.0, time_ms=20),
        event("LABELED", "ann", 3, UNSURE, time_ms=30),
        event("RETRACTED", "ann", 1, query=1, time_ms=50),
        event("UNUSED", "ann", 4, query=4, answer_seconds=3.0, time_ms=40),
        event("LABELED", "ben", 1),
    ]
    found = report(log)
    assert found.votes == LabelCounts(inlier=0, outlier=1, unsure=1)
    assert (found.asked, found.unasked, found.unused, found.retracted) == (2, 1, 1, 1)
    assert found.median_answer_seconds == 3.0
    assert found.last_answer_ms == 40
    assert [one.labeler for one in labeler_reports(log)] == ["ann", "ben"]


def test_agreement_of_labeler_compares_it_with_majority_of_others() -> None:
    log = [
        # Rows 1 to 6: with the majority, against it, others tied or unsure, ann unsure, no others.
        *(event("LABELED", name, 1, INLIER) for name in ("ann", "ben", "cem")),
        *(event("LABELED", name, 2, INLIER) for name in ("ben", "cem")),
        event("LABELED", "ann", 2, OUTLIER),
        event("LABELED", "ann", 3, OUTLIER),
        event("LABELED", "ben", 3, OUTLIER),
        event("LABELED", "cem", 3, INLIER),
        event("LABELED", "ann", 4),
        event("LABELED", "ben", 4, UNSURE),
        event("LABELED", "ann", 5, UNSURE),
        event("LABELED", "ben", 5),
        event("LABELED", "ann", 6),
    ]
    found = report(log)
    assert found.compared == 3
    assert found.agreement == pytest.approx((1 + 0 + 0.5) / 3)


def test_withdrawn_labeler_has_no_votes_and_is_still_compared_with_others() -> None:
    log = [
        *(event("LABELED", name, 1, INLIER) for name in ("ann", "ben")),
        *(event("LABELED", name, 2, INLIER) for name in ("ben", "cem")),
        event("LABELED", "ann", 2, OUTLIER),
        event("WITHDRAWN", "ann"),
    ]
    ann, ben, _ = labeler_reports(log)
    assert ann.withdrawn
    assert ann.votes == LabelCounts()
    assert (ann.compared, ann.agreement) == (2, 0.5)
    # Void votes do not count for others' agreement.
    assert (ben.compared, ben.agreement) == (1, 1.0)


def test_repeated_answer_is_compared_with_vote_in_force_when_it_was_given() -> None:
    log = [
        event("LABELED", "ann", 1, INLIER),
        event("REPEATED", "ann", 1, INLIER, query=7),
        event("LABELED", "ann", 1, OUTLIER),
        event("REPEATED", "ann", 1, INLIER, query=8),
        event("RETRACTED", "ann", 1),
        event("REPEATED", "ann", 1, INLIER, query=9),
    ]
    found = report(log)
    assert (found.repeats, found.self_consistency) == (2, 0.5)
    assert (found.asked, found.unasked) == (0, 2)


def test_last_word_on_each_control_item_makes_the_trust() -> None:
    log = [
        event("CHECKED", "ann", 1, OUTLIER, query=1, answer_seconds=2.0, time_ms=5),
        event("CHECKED", "ann", 2, OUTLIER, query=2),
        event("CHECKED", "ann", 2, INLIER),
        event("CHECKED", "ann", 3, OUTLIER, query=4),
        event("CHECKED", "ann", 4, UNSURE, query=5),
        event("LABELED", "ann", 5, query=6),
        event("LABELED", "ben", 5),
    ]
    ann, ben = labeler_reports(log, {1: OUTLIER, 2: INLIER, 3: INLIER, 4: INLIER})
    assert (ann.controls, ann.controls_right) == (3, 2)
    assert (ann.outlier_controls, ann.outlier_controls_right) == (1, 1)
    assert ann.trust == pytest.approx((4 + 2) / (5 + 3))
    # They are neither votes nor answers to other queries, but tell the pace.
    assert (ann.asked, ann.unasked, ann.repeats, ann.compared) == (1, 0, 0, 1)
    assert ann.median_answer_seconds == 2.0
    assert (ben.controls, math.isnan(ben.trust)) == (0, True)


def test_undefined_coefficient_is_nan() -> None:
    found = report([event("LABELED", "ann", 1)])
    assert math.isnan(found.median_answer_seconds)
    assert math.isnan(found.agreement)
    assert math.isnan(found.self_consistency)


@given(logs())
def test_reports_list_all_votes_in_force(log: list[LabelEvent]) -> None:
    votes = votes_in_force(log)
    reports = labeler_reports(log)
    assert [one.labeler for one in reports] == sorted({one.labeler for one in log})
    for one in reports:
        own = [of_row[one.labeler] for of_row in votes.values() if one.labeler in of_row]
        assert one.votes == LabelCounts(*(own.count(v) for v in (INLIER, OUTLIER, UNSURE)))
        assert math.isnan(one.agreement) == (one.compared == 0)


def test_two_labelers_have_all_coefficients() -> None:
    found = agreement(
        {
            1: {"ann": 1, "ben": 1},
            2: {"ann": -1, "ben": -1},
            3: {"ann": 1, "ben": -1},
            4: {"ann": 1, "ben": 1},
            5: {"ann": 1, "ben": 0},
            6: {"cem": 1},
        }
    )
    # Of four rows three agree; chance agrees on 3/4 * 1/2 + 1/4 * 1/2.
    assert found.observations == found.fleiss_observations == 4
    assert found.observed == 0.75
    assert found.cohen_kappa == pytest.approx((0.75 - 0.5) / 0.5)
    # Five votes of eight are +1: chance agrees on 34/64 (Fleiss), 32/56 of distinct pairs differ
    # in 30/56 (Krippendorff).
    assert found.fleiss_kappa == pytest.approx((0.75 - 34 / 64) / (30 / 64))
    assert found.krippendorff_alpha == pytest.approx(1 - 0.25 / (30 / 56))


def test_three_labelers_have_fleiss_kappa_over_most_frequent_vote_count_and_no_cohens_kappa() -> (
    None
):
    pair, triple = {"ann": 1, "ben": -1}, {"ann": 1, "ben": 1, "cem": -1}
    found = agreement({1: pair, 2: triple, 3: triple, 4: {"ann": -1, "ben": -1, "cem": -1}})
    assert math.isnan(found.cohen_kappa)
    assert (found.observations, found.fleiss_observations) == (4, 3)
    # Both numbers of votes are equally frequent, so the larger one counts.
    assert agreement({1: pair, 2: triple}).fleiss_observations == 1
    assert agreement({1: pair, 2: triple}).observed == pytest.approx(1 / 4)


def test_report_without_pairs_defines_no_coefficient() -> None:
    for votes in ({}, {1: {"ann": 1}}, {1: {"ann": 1, "ben": 0}}):
        found: Agreement = agreement(votes)
        assert (found.observations, found.fleiss_observations) == (0, 0)
        assert all(
            math.isnan(value)
            for value in (
                found.observed,
                found.cohen_kappa,
                found.fleiss_kappa,
                found.krippendorff_alpha,
            )
        )


class Counted(list[LabelEvent]):
    """A log that counts how many events were read."""

    read = 0

    def __iter__(self) -> Iterator[LabelEvent]:
        for one in super().__iter__():
            self.read += 1
            yield one


def test_report_reads_long_log_a_fixed_number_of_times() -> None:
    rng = random.Random(0)
    log = Counted(
        event(
            "LABELED",
            rng.choice(NAMES),
            rng.randrange(4000),
            rng.choice(list(Verdict)),
            query=1,
            answer_seconds=1.0,
        )
        for _ in range(10_000)
    )
    labeler_reports(log)
    agreement(votes_in_force(log))
    assert log.read <= 4 * len(log)
