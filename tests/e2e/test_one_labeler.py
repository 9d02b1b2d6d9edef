"""One labeler from upload to model, with the same queries in every run."""

import numpy as np
import pytest
from sklearn.svm import OneClassSVM
from tests.e2e.processes import deployment
from tests.numerics.cases import wdbc

from svddtune import numerics
from svddtune.client import TuningClient, Verdict
from svddtune.numerics import FloatArray, LabelArray

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

BUDGET = 20


def ask_all(client: TuningClient, session: str, y: LabelArray) -> list[int]:
    """Answer every query truthfully; return the queried rows."""
    asked = []
    with client.tuning(session, labeler="ann") as tuning:
        for query in tuning.queries():
            asked.append(query.row)
            tuning.answer(query, int(y[query.row]))
    return asked


def start(client: TuningClient, X: FloatArray, y: LabelArray, strategy: str = "lama") -> str:
    """Create a session with the 2 + 2 labels with which the in-process run begins."""
    initial = {str(row): Verdict.of(int(y[row])) for row in numerics.draw_initial(y, 2, 2, seed=3)}
    dataset = client.upload_dataset(X)
    session = client.create_session(
        dataset, initial_labels=initial, budget=BUDGET, seed=3, strategy=strategy
    )
    return session.name


@pytest.mark.parametrize(
    "workers", [1, pytest.param(3, marks=[pytest.mark.slow, pytest.mark.thorough])]
)
@pytest.mark.parametrize(
    "strategy", ["lama", pytest.param("random", marks=[pytest.mark.slow, pytest.mark.thorough])]
)
def test_service_with_any_number_of_workers_asks_the_same_queries_as_the_method_in_process(
    redis_url: str, workers: int, strategy: str
) -> None:
    X, y = wdbc()
    expected = numerics.run(X, y, budget=BUDGET, seed=3, strategy=strategy)  # type: ignore[arg-type]
    with deployment(redis_url, workers) as address, TuningClient(address) as client:
        session = start(client, X, y, strategy)
        asked = ask_all(client, session, y)
        client.wait_until_completed(session, timeout_s=60)
        result = client.result(session)
    assert asked == expected.queries.tolist()
    assert result.gamma == pytest.approx(expected.final.gamma, rel=1e-12)
    assert result.C == pytest.approx(expected.final.model.C, rel=1e-12)
    assert [cell.score for cell in result.c_curve] == [cell.score for cell in expected.final.cells]


@pytest.mark.slow
def test_exported_model_predicts_like_the_result_and_like_scikit_learn(redis_url: str) -> None:
    X, y = wdbc()
    raw = 3.0 + 40.0 * X
    with deployment(redis_url) as address, TuningClient(address) as client:
        session = client.create_session(
            client.upload_dataset(raw, scaling="minmax"),
            initial_labels={str(row): int(y[row]) for row in range(0, 367, 9)}
            | {str(row): -1 for row in np.flatnonzero(y == -1)[:4]},
            budget=len(set(range(0, 367, 9)) | set(np.flatnonzero(y == -1)[:4].tolist())),
        )
        client.wait_until_completed(session, timeout_s=60)
        model, result = client.model(session), client.result(session)
    predicted = model.predict(raw)
    assert int((predicted == -1).sum()) == result.outside_count
    scaled = (raw - raw.min(axis=0)) / np.ptp(raw, axis=0)
    np.testing.assert_array_equal(model.to_sklearn().predict(raw), predicted)
    svm = OneClassSVM(gamma=model.gamma, nu=model.sklearn_nu, tol=1e-9).fit(scaled)
    decision = svm.decision_function(scaled)
    # On the boundary the decision is 0 within the solver's tolerance; all other rows must agree.
    clear = np.abs(decision) > 1e-5 * result.nu * len(X)
    assert clear.sum() > 0.8 * len(X)
    np.testing.assert_array_equal(np.sign(decision[clear]), predicted[clear])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verdicts", "phrase"),
    [
        ({}, "No label was given: scaling, gamma and C come"),
        ({"3": 1, "5": 1}, "All 2 labels are inliers"),
        ({"3": -1}, "All 1 labels are outliers"),
    ],
)
def test_result_without_both_classes_notes_what_could_not_be_judged(
    redis_url: str, verdicts: dict[str, int], phrase: str
) -> None:
    X, _ = wdbc()
    with deployment(redis_url) as address, TuningClient(address) as client:
        session = client.create_session(client.upload_dataset(X), initial_labels=verdicts)
        with client.tuning(session) as tuning:
            tuning.next_query(timeout_s=30)
        client.finish_session(session)
        client.wait_until_completed(session, timeout_s=60)
        result = client.result(session)
    assert any(phrase in note for note in result.notes)
    assert np.isnan(result.quality.value)
    assert result.quality.interval is None
    if set(verdicts.values()) == {1}:
        assert result.C == pytest.approx(result.C_bounds[1])
        assert result.outside_count == 0
