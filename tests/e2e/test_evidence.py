"""The default strategy through the service: live evidence, joint choice, audit, early finish."""

import numpy as np
import pytest
from tests.e2e.processes import deployment
from tests.numerics.cases import blobs, wdbc

from svddtune import numerics
from svddtune.client import TuningClient, Verdict

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

BUDGET = 16


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers", [1, pytest.param(3, marks=[pytest.mark.slow, pytest.mark.thorough])]
)
@pytest.mark.parametrize(
    "initial", [(2, 2), pytest.param((0, 0), marks=[pytest.mark.slow, pytest.mark.thorough])]
)
def test_service_asks_the_same_queries_as_the_method_in_process(
    redis_url: str, workers: int, initial: tuple[int, int]
) -> None:
    X, y = wdbc()
    views = numerics.Views(X, "auto")
    expected = numerics.run(
        views, y, budget=BUDGET, seed=3, strategy=numerics.DEFAULT_STRATEGY, initial=initial
    )
    start = {str(r): Verdict.of(int(y[r])) for r in numerics.draw_initial(y, *initial, seed=3)}
    asked, live = [], []
    with deployment(redis_url, workers) as address, TuningClient(address) as client:
        session = client.create_session(
            client.upload_dataset(X), initial_labels=start, budget=BUDGET, seed=3
        )
        assert session.config.strategy == numerics.DEFAULT_STRATEGY
        with client.tuning(session, labeler="ann") as tuning:
            for query in tuning.queries():
                asked.append(query.row)
                live.append(client.get_session(session).live)
                tuning.answer(query, int(y[query.row]))
        client.wait_until_completed(session, timeout_s=60)
        result = client.result(session)
    assert asked == expected.queries.tolist()
    assert result.choice == "atlas"
    assert result.scaling == expected.final.scaling
    assert result.gamma == pytest.approx(expected.final.gamma, rel=1e-12)
    assert result.C == pytest.approx(expected.final.model.C, rel=1e-12)
    # The live evidence at each query equals the choice of the method at that time.
    for shown, choice in zip(live, expected.choices, strict=False):
        assert shown is not None
        assert shown.scaling == choice.scaling
        assert (shown.gamma, shown.C) == pytest.approx((choice.gamma, choice.C), rel=1e-12)
        assert shown.advice.endswith(".")


@pytest.mark.slow
def test_audited_rows_are_scored_separately_and_do_not_tune(redis_url: str) -> None:
    X, y = blobs(150, 4, seed=2)
    audits = 8
    with deployment(redis_url) as address, TuningClient(address) as client:
        session = client.create_session(
            client.upload_dataset(X), budget=24, audit=audits, strategy="random", seed=5
        )
        why: list[str] = []
        with client.tuning(session) as tuning:
            for query in tuning.queries():
                why.append(query.why)
                tuning.answer(query, int(y[query.row]))
        client.wait_until_completed(session, timeout_s=60)
        result = client.result(session)
    audited = numerics.draw_audit(len(X), audits, seed=5, exclude=np.empty(0, dtype=np.int64))
    assert sum("audit" in text for text in why) == audits
    assert result.audit is not None
    assert result.audit.kind == "audit"
    assert result.audit.counts.total == audits
    assert result.quality.counts.total == 24 - audits
    labels = np.zeros(len(X), dtype=np.int8)
    tuned = [row for row in result.manifest.labeled_rows if row not in audited]
    labels[tuned] = y[tuned]
    views = numerics.Views(X, "auto")
    expected = numerics.finish(numerics.prepare(views.X, k=8), views, labels, k=5)
    assert result.scaling == expected.scaling
    assert result.gamma == pytest.approx(expected.gamma, rel=1e-12)
    assert result.C == pytest.approx(expected.model.C, rel=1e-12)


@pytest.mark.slow
def test_session_without_outlier_labels_returns_usable_result(redis_url: str) -> None:
    X, _ = blobs(60, 3, seed=4)
    with deployment(redis_url) as address, TuningClient(address) as client:
        session = client.create_session(client.upload_dataset(X), budget=8)
        with client.tuning(session) as tuning:
            for query in tuning.queries():
                tuning.answer(query, "inlier")
        client.wait_until_completed(session, timeout_s=60)
        result = client.result(session)
    assert result.C == pytest.approx(result.C_bounds[1])
    assert any("All 8 labels are inliers" in note for note in result.notes)
    assert result.quality.interval is None


@pytest.mark.slow
def test_session_with_auto_finish_ends_before_its_budget(redis_url: str) -> None:
    X, y = blobs(120, 2, seed=6)
    with deployment(redis_url) as address, TuningClient(address) as client:
        session = client.create_session(
            client.upload_dataset(X), budget=100, auto_finish=True, seed=1
        )
        with client.tuning(session) as tuning:
            for query in tuning.queries():
                tuning.answer(query, int(y[query.row]))
        done = client.wait_until_completed(session, timeout_s=60)
    assert done.counts.total < 100
    assert done.live is not None
    assert done.live.stop
