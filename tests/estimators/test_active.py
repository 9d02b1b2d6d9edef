"""ActiveSVDD: what it asks, what it chooses, and what it makes of labels."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.estimators.scene import NAMES, X, y

from svddtune import SVDD, ActiveSVDD, Command, KnownLabels, Query, SkipMode, cohen_kappa, numerics
from svddtune.numerics.refined import fit_refined, refined_basis


def truth(query: Query) -> int:
    return int(y[query.row])


def test_queries_and_choice_are_those_of_numerics() -> None:
    tuned = ActiveSVDD(truth, budget=20, scaling="minmax", random_state=3).fit(X)
    Z = numerics.fit_representation(X, "minmax").apply(X)
    expected = numerics.run(
        Z, y.astype(np.int8), budget=20, strategy=numerics.DEFAULT_STRATEGY, seed=3, initial=(0, 0)
    )
    np.testing.assert_array_equal(tuned.result_.queries, expected.queries)
    np.testing.assert_array_equal(tuned.labels_, expected.labels)
    chosen = expected.final.model
    assert (tuned.gamma_, tuned.C_) == (chosen.gamma, chosen.C)
    np.testing.assert_array_equal(tuned.predict(X), expected.final.predictions)


def test_model_equals_svdd_fitted_with_chosen_parameters() -> None:
    tuned = ActiveSVDD(truth, budget=15).fit(pd.DataFrame(X, columns=NAMES))
    assert isinstance(tuned.model_, SVDD)
    alone = clone(tuned.model_).fit(pd.DataFrame(X, columns=NAMES))
    rows = pd.DataFrame(X + 0.1, columns=NAMES)[NAMES[::-1]]
    for one in (tuned.model_, alone):
        np.testing.assert_allclose(
            one.decision_function(rows), tuned.decision_function(rows), atol=1e-9
        )
    assert tuned.model_.feature_names_in_.tolist() == NAMES
    assert tuned.offset_ == tuned.model_.offset_


def test_query_has_raw_values_of_its_row() -> None:
    seen: list[Query] = []

    def oracle(query: Query) -> str:
        seen.append(query)
        return "inlier"

    ActiveSVDD(oracle, budget=5).fit(pd.DataFrame(X, columns=NAMES))
    assert [query.number for query in seen] == [1, 2, 3, 4, 5]
    for query in seen:
        np.testing.assert_array_equal(query.features, X[query.row])


def test_labels_in_y_count_towards_budget_and_are_not_asked_about() -> None:
    known = np.where(np.arange(len(X)) % 8 == 0, y, 0)
    asked: list[int] = []

    def oracle(query: Query) -> int:
        asked.append(query.row)
        return int(y[query.row])

    tuned = ActiveSVDD(oracle, budget=14).fit(X, known)
    assert len(asked) == 14 - np.count_nonzero(known)
    assert not known[asked].any()
    assert np.count_nonzero(tuned.labels_) == 14


@pytest.mark.parametrize("missing", [0, np.nan, None])
def test_without_oracle_labels_in_y_decide(missing: Any) -> None:
    known = [label if row % 3 == 0 else missing for row, label in enumerate(y.tolist())]
    tuned = ActiveSVDD().fit(X, known)
    assert len(tuned.result_.queries) == 0
    np.testing.assert_array_equal(tuned.labels_, np.where(np.arange(len(y)) % 3 == 0, y, 0))
    assert cohen_kappa(y, tuned.predict(X)) > 0.5


def test_codes_of_caller_are_named_by_outlier_value() -> None:
    words = np.where(y == -1, "fault", "fine")
    tuned = ActiveSVDD(outlier_value="fault").fit(X, words)
    np.testing.assert_array_equal(tuned.labels_, y)
    with pytest.raises(ValueError, match="OUTLIER_VALUE_UNKNOWN"):
        ActiveSVDD(outlier_value="broken").fit(X, words)


@pytest.mark.parametrize("codes", [np.where(y == -1, 1, 0), np.arange(len(y)), y == -1])
def test_codes_that_may_mean_anything_are_ignored_with_a_warning(codes: Any) -> None:
    with pytest.warns(UserWarning, match=r"y is ignored: .*outlier_value"):
        tuned = ActiveSVDD().fit(X, codes)
    assert not tuned.labels_.any()
    np.testing.assert_array_equal(tuned.predict(X), ActiveSVDD().fit_predict(X))


def test_unsure_and_skipped_rows_are_not_asked_about_again() -> None:
    asked: list[int] = []

    def oracle(query: Query) -> object:
        asked.append(query.row)
        return ("unsure", SkipMode.DROP, "inlier", "outlier")[query.number % 4]

    tuned = ActiveSVDD(oracle, budget=6).fit(X)
    assert len(asked) == len(set(asked))
    assert np.count_nonzero(tuned.labels_) == 6


def test_stop_of_oracle_ends_with_labels_so_far() -> None:
    tuned = ActiveSVDD(
        lambda query: Command.STOP if query.number > 4 else int(y[query.row]), budget=30
    ).fit(X)
    assert np.count_nonzero(tuned.labels_) == 4


def test_oracles_of_tune_answer() -> None:
    tuned = ActiveSVDD(KnownLabels(y), budget=12).fit(X)
    np.testing.assert_array_equal(tuned.labels_[tuned.result_.queries], y[tuned.result_.queries])


def test_answer_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="'perhaps' is not a verdict"):
        ActiveSVDD(lambda query: "perhaps").fit(X)
    with pytest.raises(ValueError, match="cannot be withdrawn"):
        ActiveSVDD(lambda query: Command.UNDO).fit(X)


@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "50"])
def test_budget_that_is_no_count_is_refused(budget: Any) -> None:
    with pytest.raises(ValueError, match="budget is"):
        ActiveSVDD(truth, budget=budget).fit(X)


def test_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="no query strategy 'greedy' here; there are lama"):
        ActiveSVDD(truth, strategy="greedy").fit(X)


@pytest.mark.parametrize("strategy", numerics.STRATEGIES)
def test_every_strategy_finds_outliers(strategy: numerics.Strategy) -> None:
    tuned = ActiveSVDD(truth, budget=40, strategy=strategy).fit(X)
    assert cohen_kappa(y, tuned.predict(X)) > 0.4


def test_bounds_of_gamma_hold() -> None:
    tuned = ActiveSVDD(truth, budget=10, gamma_bounds=(50.0, 60.0)).fit(X)
    assert 50.0 * (1 - 1e-9) <= tuned.gamma_ <= 60.0 * (1 + 1e-9)


@pytest.mark.slow
def test_clone_pickle_and_grid_search_in_a_pipeline_work() -> None:
    pipeline = make_pipeline(FunctionTransformer(), ActiveSVDD())
    search = GridSearchCV(
        pipeline,
        {"activesvdd__k": [3, 5]},
        scoring=make_scorer(cohen_kappa),
        cv=StratifiedKFold(3),
    ).fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.predict(X), search.predict(X))
    assert (
        clone(copy[-1]).get_params()
        == ActiveSVDD(k=search.best_params_["activesvdd__k"]).get_params()
    )


def test_without_labels_some_rows_are_outside() -> None:
    predicted = ActiveSVDD().fit_predict(X)
    assert 0.0 < np.mean(predicted == -1) < 0.5


def test_notes_name_odd_columns_and_labels_that_do_not_fit() -> None:
    frame = pd.DataFrame(np.column_stack((X[:15], np.ones(15))), columns=[*NAMES, "site"])
    tuned = ActiveSVDD().fit(frame, y[:15])
    assert [note.split()[0:2] for note in tuned.notes_] == [["There", "are"], ["Column", "'site'"]]
    with pytest.warns(UserWarning, match="no better than chance") as caught:
        tuned = ActiveSVDD().fit(np.ones((30, 2)), np.where(np.arange(30) % 2 == 0, 1, -1))
    assert [str(one.message) for one in caught] == [tuned.notes_[0]]
    assert tuned.notes_[1] == "All rows are equal, so no model can tell them apart."


@pytest.mark.parametrize("kind", [SVDD, ActiveSVDD])
def test_values_near_the_largest_double_are_refused_with_column_and_bound(kind: Any) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    model = kind().fit(frame)
    frame["pressure"] *= 1e155
    for call in (model.predict, kind().fit):
        with pytest.raises(ValueError, match=r"column .*pressure.*magnitudes up to 1e\+100"):
            call(frame)


def test_refined_detector_is_that_of_numerics_and_has_verdicts_of_its_own() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    tuned = ActiveSVDD(truth, budget=25, random_state=2).fit(frame)
    basis = refined_basis(numerics.Views(X, "auto"), seed=2)
    expected = fit_refined(basis, X, tuned.labels_, seed=2)
    assert expected is not None
    probability = tuned.outlier_probability(frame[NAMES[::-1]])
    # The frame's rows lie otherwise in memory, so sums may differ in the last digit.
    np.testing.assert_allclose(probability, expected.probability(X), rtol=1e-9)
    verdicts = tuned.predict(frame, which="refined")
    np.testing.assert_array_equal(verdicts == -1, expected.score(X) >= 0.5)
    labelled = tuned.labels_ != 0
    assert cohen_kappa(tuned.labels_[labelled], verdicts[labelled]) > 0.5
    with pytest.raises(ValueError, match="which is 'best', expected 'svdd' or 'refined'"):
        tuned.predict(frame, which="best")


def test_without_labels_of_both_classes_there_is_no_refined_detector() -> None:
    tuned = ActiveSVDD().fit(X)
    assert tuned.refined_ is None
    with pytest.raises(ValueError, match="needs labels of both classes"):
        tuned.predict(X, which="refined")


@pytest.mark.parametrize("rows", [X[:0:-60], np.ones((4, 2)), np.eye(5), 1e97 * X, 1e-155 * X])
def test_refined_detector_of_odd_data_gives_probabilities(rows: Any) -> None:
    labels = np.where(np.arange(len(rows)) % 2 == 0, 1, -1)
    tuned = ActiveSVDD(scaling="minmax")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The chosen model|The model calls")
        tuned.fit(rows, labels)
    probability = tuned.outlier_probability(rows)
    assert ((probability >= 0.0) & (probability <= 1.0)).all()
