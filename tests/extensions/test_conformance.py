"""The strategies and representations of svddtune pass the tests that others have to pass."""

from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest

from svddtune import numerics
from svddtune.conformance import RepresentationConformance, StrategyConformance, built_in
from svddtune.numerics import (
    FitRepresentation,
    FloatArray,
    QueryStrategy,
    Ranked,
    Representation,
    RepresentationFault,
    Situation,
    StrategyFault,
)


class TestLama(StrategyConformance):
    strategy = staticmethod(built_in("lama"))
    scale_invariant = True


class TestRandom(StrategyConformance):
    strategy = staticmethod(built_in("random"))
    scale_invariant = True


class TestDisagreement(StrategyConformance):
    strategy = staticmethod(built_in("disagreement"))
    scale_invariant = True


class TestKnowledgeGradient(StrategyConformance):
    strategy = staticmethod(built_in("knowledge_gradient"))
    scale_invariant = True


class TestMixed(StrategyConformance):
    strategy = staticmethod(built_in("mixed"))
    scale_invariant = True


class TestNone(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="none"))


class TestMinMax(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="minmax"))
    affine_invariant = True


class TestRobust(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="robust"))
    affine_invariant = True


class TestStandard(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="standard"))
    affine_invariant = True


class TestRanks(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="ranks"))
    affine_invariant = True


class TestNormal(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="normal"))
    affine_invariant = True


class TestWhitened(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="whitened"))
    affine_invariant = True


class TestAsinh(RepresentationConformance):
    fit = staticmethod(partial(numerics.fit_representation, kind="asinh"))
    affine_invariant = True


def test_every_strategy_and_representation_is_put_to_the_test() -> None:
    kits = [one for name, one in globals().items() if name.startswith("Test")]
    kinds = [kit.fit.keywords["kind"] for kit in kits if issubclass(kit, RepresentationConformance)]
    assert sorted(kinds) == sorted(numerics.REPRESENTATIONS)
    assert len(kits) == len(kinds) + len(numerics.STRATEGIES)


def first_rows(situation: Situation, most: int, score: float = 0.0) -> Ranked:
    rows = np.flatnonzero(situation.askable)[:most]
    return Ranked(rows, np.full(len(rows), score))


def labelled_rows_too(situation: Situation) -> Ranked:
    rows = np.arange(min(situation.reserve, len(situation.labels)))
    return Ranked(rows, np.zeros(len(rows)))


def open_rows_too(situation: Situation) -> Ranked:
    rows = np.flatnonzero(situation.labels == 0)[: situation.reserve]
    return Ranked(rows, np.zeros(len(rows)))


def one_row_twice(situation: Situation) -> Ranked:
    rows = np.repeat(first_rows(situation, 1).rows, 2)[: situation.reserve]
    return Ranked(rows, np.zeros(len(rows)))


def all_rows(situation: Situation) -> Ranked:
    return first_rows(situation, len(situation.labels))


def no_row(situation: Situation) -> Ranked:
    return first_rows(situation, 0)


def no_number(situation: Situation) -> Ranked:
    return first_rows(situation, 1, np.nan)


def a_list(situation: Situation) -> Any:
    return first_rows(situation, 1).rows.tolist()


_calls = count()


def with_state(situation: Situation) -> Ranked:
    return first_rows(situation, 1, float(next(_calls)))


def writing_labels(situation: Situation) -> Ranked:
    ranked = first_rows(situation, 1)
    situation.labels[ranked.rows] = 1
    return ranked


def only_far_rows(situation: Situation) -> Ranked:
    rows = np.flatnonzero(situation.askable & (np.abs(situation.X).max(axis=1) > 100.0))
    rest = np.flatnonzero(situation.askable)
    rows = (rows if len(rows) else rest[:1])[: situation.reserve]
    return Ranked(rows, np.zeros(len(rows)))


@pytest.mark.parametrize(
    ("strategy", "test"),
    [
        (labelled_rows_too, "test_ranking_is_usable_in_every_state"),
        (open_rows_too, "test_ranking_is_usable_in_every_state"),
        (one_row_twice, "test_ranking_is_usable_in_every_state"),
        (all_rows, "test_ranking_is_usable_in_every_state"),
        (no_row, "test_ranking_is_usable_in_every_state"),
        (no_row, "test_session_asks_about_every_row_once"),
        (no_number, "test_ranking_is_usable_in_every_state"),
        (a_list, "test_ranking_is_usable_in_every_state"),
        (with_state, "test_same_seed_gives_same_ranking"),
        (writing_labels, "test_arrays_of_situation_stay_as_they_are"),
        (only_far_rows, "test_scale_of_data_does_not_matter"),
    ],
)
def test_faulty_strategy_fails(strategy: QueryStrategy, test: str) -> None:
    kit = type("Kit", (StrategyConformance,), {"strategy": staticmethod(strategy)})
    kit.scale_invariant = True  # type: ignore[attr-defined]
    with pytest.raises((AssertionError, StrategyFault)):
        getattr(kit(), test)()


def a_word(X: FloatArray) -> Any:
    return "minmax"


def too_many_columns(X: FloatArray) -> Representation:
    return numerics.fit_representation(np.column_stack((X, X)), "minmax")


_draws = np.random.default_rng()


def random_offset(X: FloatArray) -> Representation:
    M = X.shape[1]
    return Representation.affine("random", np.asarray(_draws.normal(size=M)), np.ones(M))


def one_point(X: FloatArray) -> Representation:
    M = X.shape[1]
    return Representation.affine("point", np.zeros(M), 1e300 * np.ones(M))


_LARGE = 1.7e308


def beyond_doubles(X: FloatArray) -> Representation:
    M = X.shape[1]
    return replace(
        numerics.fit_representation(X, "none"), kind="beyond", rotation=_LARGE * np.eye(M)
    )


def sorting_rows(X: FloatArray) -> Representation:
    X.sort(axis=0)
    return numerics.fit_representation(X, "none")


@pytest.mark.parametrize(
    ("fit", "test"),
    [
        (a_word, "test_rows_become_finite_numbers"),
        (too_many_columns, "test_rows_become_finite_numbers"),
        (beyond_doubles, "test_rows_become_finite_numbers"),
        (random_offset, "test_same_data_give_same_rows"),
        (one_point, "test_equal_rows_stay_equal_and_some_others_differ"),
        (sorting_rows, "test_data_stay_as_they_are"),
        (numerics.fit_representation, "test_units_of_columns_do_not_matter"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_faulty_representation_fails(fit: FitRepresentation, test: str) -> None:
    kit = type("Kit", (RepresentationConformance,), {"fit": staticmethod(fit)})
    kit.affine_invariant = True  # type: ignore[attr-defined]
    with pytest.raises((AssertionError, RepresentationFault)):
        getattr(kit(), test)()
