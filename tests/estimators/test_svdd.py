"""SVDD as an estimator: what it computes, and its manners."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import OneClassSVM
from tests.estimators.scene import NAMES, X, y

from svddtune import SVDD, cohen_kappa, numerics


def test_decision_equals_definition_from_support_vectors() -> None:
    model = SVDD(gamma=2.0, C=0.1).fit(X)
    Z = MinMaxScaler().fit_transform(X)
    support = model.support_vectors_
    np.testing.assert_allclose(support, Z[model.support_], atol=1e-12)

    def kernel(a: Any, b: Any) -> Any:
        return np.exp(-2.0 * np.square(a[:, None, :] - b[None, :, :]).sum(axis=2))

    center2 = model.alphas_ @ kernel(support, support) @ model.alphas_
    distance2 = 1.0 - 2.0 * kernel(Z, support) @ model.alphas_ + center2
    np.testing.assert_allclose(model.score_samples(X), -distance2, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), model.R2_ + 1e-5 - distance2, atol=1e-9)
    assert model.alphas_.max() <= 0.1 + 1e-9


def test_decisions_are_those_of_one_class_svm_with_same_parameters() -> None:
    model = SVDD(gamma=3.0, nu=0.2).fit(X)
    svm = make_pipeline(MinMaxScaler(), OneClassSVM(gamma=3.0, nu=0.2, tol=1e-8)).fit(X)
    clear = np.abs(svm.decision_function(X)) > 1e-4
    assert clear.sum() > 60
    np.testing.assert_array_equal(model.predict(X)[clear], svm.predict(X)[clear])


@pytest.mark.parametrize("scaling", ["none", "minmax", "robust"])
def test_parameters_are_those_of_numerics(scaling: Any) -> None:
    model = SVDD(C=0.05, scaling=scaling).fit(X)
    Z = numerics.fit_representation(X, scaling).apply(X)
    expected = numerics.fit(Z, gamma=numerics.sklearn_scale_gamma(Z), C=0.05)
    assert (model.gamma_, model.C_, model.nu_) == (expected.gamma, 0.05, expected.nu)
    np.testing.assert_array_equal(model.predict(X) == -1, expected.outside(Z))


def test_every_row_is_outside_at_smallest_cost() -> None:
    model = SVDD(C=1.0 / len(X)).fit(X)
    assert (model.predict(X) == -1).all()
    assert (model.predict(X + 100.0) == -1).all()


def test_no_row_is_outside_at_largest_cost() -> None:
    assert (SVDD(C=1.0).fit(X).predict(X) == 1).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0.0}, "gamma is 0.0, expected a positive number or 'scale'"),
        ({"gamma": "auto"}, "gamma is 'auto', expected a positive number or 'scale'"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"C": 1e-4}, r"C is 0.0001, expected a value in \[1/N, 1\]"),
        ({"C": 2.0}, "C is 2.0, expected"),
        ({"C": True}, "C is True"),
        ({"nu": 0.0}, "nu is 0.0"),
        ({"nu": 1.5}, r"nu is 1.5, expected a value in \(0, 1\]"),
        ({"C": 0.5, "nu": 0.5}, "give one of them"),
        ({"scaling": "log"}, "no representation 'log' here; there are none, minmax"),
    ],
)
def test_wrong_parameter_is_refused_by_name(parameters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SVDD(**parameters).fit(X)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frame_is_matched_by_names_of_columns_in_any_order(kind: Any) -> None:
    frame = kind({name: X[:, column] for column, name in enumerate(NAMES)})
    model = SVDD(nu=0.1).fit(frame)
    assert model.feature_names_in_.tolist() == NAMES
    expected = SVDD(nu=0.1).fit(X).decision_function(X)
    np.testing.assert_array_equal(model.decision_function(frame), expected)
    np.testing.assert_array_equal(model.decision_function(frame[NAMES[::-1]]), expected)


def test_frame_with_missing_or_other_column_is_refused() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    model = SVDD().fit(frame)
    with pytest.raises(ValueError, match="now missing"):
        model.predict(frame[NAMES[:2]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(frame.rename(columns={"current": "voltage"}))
    with pytest.raises(ValueError, match="3 features"):
        SVDD().fit(X).predict(X[:, :2])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_value_of_new_row_that_is_no_number_is_refused_with_its_column(value: float) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    model = SVDD().fit(frame)
    frame["pressure"] = value
    with pytest.raises(ValueError, match=r"NaN or infinity.*row 0, column .*pressure"):
        model.predict(frame)


def test_clone_and_pickle_keep_parameters_and_decisions() -> None:
    model = SVDD(gamma=0.7, nu=0.3, scaling="robust").fit(X)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))


def test_grid_search_over_pipeline_in_two_processes_finds_best_parameters() -> None:
    pipeline = make_pipeline(StandardScaler(), SVDD(scaling="none"))
    grid = {"svdd__gamma": [0.01, 0.1, 30.0], "svdd__nu": [0.05, 0.1, 0.6]}
    search = GridSearchCV(
        pipeline, grid, scoring=make_scorer(cohen_kappa), cv=StratifiedKFold(4), n_jobs=2
    ).fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_score_ > 0.4
    assert search.best_params_["svdd__nu"] < 0.6
    alone = clone(pipeline).set_params(**search.best_params_).fit(X)
    np.testing.assert_array_equal(search.decision_function(X), alone.decision_function(X))


def test_fit_of_sample_follows_random_state() -> None:
    rows = np.random.default_rng(0).normal(size=(10_500, 2))
    first, again, other = (SVDD(random_state=seed).fit(rows) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.support_, again.support_)
    assert first.support_.tolist() != other.support_.tolist()
