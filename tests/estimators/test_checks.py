"""The estimators behave as scikit-learn's checks want it."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from svddtune import SVDD, ActiveSVDD, Query


class EveryFifthIsAnOutlier:
    """An oracle whose name is the same in every process: it is a part of the tests' names."""

    def __call__(self, query: Query) -> str:
        return "outlier" if query.row % 5 == 0 else "inlier"

    def __repr__(self) -> str:
        return type(self).__name__


@parametrize_with_checks([SVDD(), SVDD(gamma=0.5, nu=0.2, scaling="robust")])  # type: ignore[untyped-decorator]
def test_svdd_passes_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks([ActiveSVDD(EveryFifthIsAnOutlier(), budget=8, scaling="minmax")])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore:y is ignored", "ignore:The chosen model", "ignore:The model")
def test_active_svdd_passes_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([ActiveSVDD()])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore:y is ignored", "ignore:The chosen model", "ignore:The model")
def test_active_svdd_with_defaults_passes_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
