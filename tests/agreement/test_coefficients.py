"""Coefficients equal published examples, scikit-learn and their definitions."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from svddtune.agreement import (
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
)

# Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76 (1971)
# 378-382: Table 1, diagnoses of 30 patients by 6 psychiatrists each: depression, personality
# disorder, schizophrenia, neurosis, other.
PATIENTS = """
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
    10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
    00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
FLEISS_1971 = [list(map(int, patient)) for patient in PATIENTS.split()]


def counts(observers: Sequence[str], categories: str) -> list[list[int]]:
    """Count values by unit and category; each line has one observer's values, "." if missing."""
    return [[unit.count(one) for one in categories] for unit in zip(*observers, strict=True)]


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), https://repository.upenn.edu/
# handle/20.500.14332/2089: examples A (binary, no missing values), B (nominal, no missing values)
# and C (nominal, missing values).
KRIPPENDORFF_A = counts(["0100000010", "1110010000"], "01")
KRIPPENDORFF_B = counts(["aabbdcccedda", "babbbccceddd"], "abcde")
KRIPPENDORFF_C = counts(["123321412...", "1233224125.3", ".3332342251.", "12332441251."], "12345")
# https://en.wikipedia.org/wiki/Krippendorff%27s_alpha: its computational example.
THREE_CODERS = counts([".....34121133.3", "1.213343.......", "..21344.21133.4"], "1234")


@pytest.mark.parametrize(
    ("coefficient", "table", "published"),
    [
        (fleiss_kappa, FLEISS_1971, 0.430),
        (observed_agreement, FLEISS_1971, 0.556),
        (krippendorff_alpha, KRIPPENDORFF_A, 0.095),
        (krippendorff_alpha, KRIPPENDORFF_B, 0.692),
        (krippendorff_alpha, KRIPPENDORFF_C, 0.743),
        (krippendorff_alpha, THREE_CODERS, 0.691),
    ],
)
def test_coefficients_equal_published_examples(
    coefficient: Callable[[list[list[int]]], float], table: list[list[int]], published: float
) -> None:
    assert round(coefficient(table), 3) == published


def tables(rows: st.SearchStrategy[int]) -> st.SearchStrategy[list[list[int]]]:
    """Counts of up to three categories."""
    return rows.flatmap(
        lambda n: st.integers(2, 3).flatmap(
            lambda q: st.lists(
                st.lists(st.integers(0, 3), min_size=q, max_size=q), min_size=n, max_size=n
            )
        )
    )


@given(tables(st.integers(1, 8)))
def test_alpha_is_one_minus_observed_by_expected_disagreement(table: list[list[int]]) -> None:
    units = [[c for c, count in enumerate(row) for _ in range(count)] for row in table]
    values = [value for unit in units if len(unit) > 1 for value in unit]
    expected = [a != b for a, b in itertools.permutations(values, 2)]
    assume(any(expected))
    observed = sum(
        sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
        if len(unit) > 1
    )
    by_definition = 1 - (observed / len(values)) / (sum(expected) / len(expected))
    assert krippendorff_alpha(table) == pytest.approx(by_definition)


@given(tables(st.integers(1, 8)))
def test_observed_agreement_is_the_share_of_equal_pairs(table: list[list[int]]) -> None:
    equal = [
        a == b
        for row in table
        for a, b in itertools.combinations(
            [c for c, count in enumerate(row) for _ in range(count)], 2
        )
    ]
    if equal:
        assert observed_agreement(table) == pytest.approx(sum(equal) / len(equal))
    else:
        assert math.isnan(observed_agreement(table))


@pytest.mark.parametrize(
    "undefined",
    [
        fleiss_kappa(np.empty((0, 2))),
        fleiss_kappa([[1, 0], [0, 1]]),
        fleiss_kappa([[3, 0], [3, 0]]),
        krippendorff_alpha(np.empty((0, 2))),
        krippendorff_alpha([[1, 0], [0, 1]]),
        krippendorff_alpha([[2, 0], [3, 0], [0, 1]]),
        observed_agreement([[1, 0]]),
    ],
)
def test_coefficients_are_undefined_without_pairs_or_with_one_category(undefined: float) -> None:
    assert math.isnan(undefined)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fleiss_kappa([[2, 0], [1, 2]]), r"\[2, 3\] votes"),
        (lambda: krippendorff_alpha([1, 2]), r"shape \(2,\)"),
        (lambda: krippendorff_alpha([[1, -1]]), "no negative count"),
    ],
)
def test_malformed_table_is_refused_by_name(call: Callable[[], float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
