"""The share of outliers and the expected gain, in live evidence and in the result."""

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.numerics import LabelArray
from svddtune.state.session import SessionId, Verdict
from svddtune.v1 import result_pb2, tuning_pb2
from svddtune.worker.advice import add_advice

pytestmark = pytest.mark.integration

X, TRUTH = blobs(120, 4, seed=0)
VIEWS = numerics.Views.of(X)
OUTLIERS, INLIERS = np.flatnonzero(TRUTH == -1), np.flatnonzero(TRUTH == 1)
ROWS = np.concatenate((OUTLIERS[:3], INLIERS[:6]))
INITIAL = {int(row): Verdict(int(TRUTH[row])) for row in ROWS}


async def answer_all(shop: Workshop, session_id: SessionId, count: int) -> LabelArray:
    """Answer queries by the truth, each ranking after the answer before; the labels given."""
    labels = np.zeros_like(TRUTH)
    labels[ROWS] = TRUTH[ROWS]
    for _ in range(count):
        (lease,) = await shop.lease(session_id)
        labels[lease.row] = TRUTH[lease.row]
        await shop.answer(session_id, lease, Verdict(int(TRUTH[lease.row])))
        shop.worker.work_off()
    return labels


async def live_of(shop: Workshop, session_id: SessionId) -> tuning_pb2.LiveEvidence:
    return tuning_pb2.LiveEvidence.FromString((await shop.sessions.get(session_id)).live)


def test_live_evidence_and_result_have_share_by_belief_and_gain(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(budget=40, initial=INITIAL)
        early = await live_of(shop, session_id)
        assert early.labels == 9
        assert not early.HasField("outlier_share")
        assert not early.HasField("expected_gain")
        assert "expected" not in early.advice
        labels = await answer_all(shop, session_id, 3)
        basis = numerics.belief_basis(VIEWS.rows(VIEWS.belief))
        expected = numerics.share_by_belief(basis, numerics.believe(basis, labels), labels)
        live = await live_of(shop, session_id)
        assert "10 more labels would probably raise kappa by" in live.advice
        result = await shop.result(session_id)
        for found in (live.outlier_share, result.outlier_share):
            assert found.method == result_pb2.OutlierShare.METHOD_BELIEF
            assert found.value == pytest.approx(expected.value)
            assert found.interval.low == pytest.approx(expected.low)
            assert found.interval.high == pytest.approx(expected.high)
            assert (found.interval.level, found.labels) == (0.9, 12)
        assert live.HasField("expected_gain")
        assert 0.0 <= live.expected_gain < 1.0
        assert result.expected_gain == pytest.approx(live.expected_gain)

    work(redis_url, act)


def test_audit_with_20_answers_gives_the_share(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(budget=39, audit=25, initial=INITIAL)
        await answer_all(shop, session_id, 23)
        before = (await live_of(shop, session_id)).outlier_share
        assert before.method == result_pb2.OutlierShare.METHOD_BELIEF
        await answer_all(shop, session_id, 1)
        rows = numerics.draw_audit(120, 25, seed=0, exclude=np.sort(ROWS))[:20]
        outliers = int((TRUTH[rows] == -1).sum())
        live = await live_of(shop, session_id)
        for found in (live.outlier_share, (await shop.result(session_id)).outlier_share):
            assert found.method == result_pb2.OutlierShare.METHOD_AUDIT
            assert found.value == pytest.approx((3 + 111 * outliers / 20) / 120)
            assert found.labels == 29

    work(redis_url, act)


@pytest.mark.parametrize("config", [{"strategy": "disagreement"}, {"metric": "f1"}])
def test_other_strategy_or_metric_has_share_but_no_gain(
    config: dict[str, str], redis_url: str
) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(budget=40, initial=INITIAL, **config)
        await answer_all(shop, session_id, 1)
        live, result = await live_of(shop, session_id), await shop.result(session_id)
        assert "expected" not in live.advice
        for found in (live, result):
            assert found.HasField("outlier_share")
            assert not found.HasField("expected_gain")

    work(redis_url, act)


def test_result_without_atlas_or_outlier_has_neither(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        only = {int(row): Verdict.INLIER for row in INLIERS[:12]}
        for session_id in (
            await shop.tuning(budget=40, initial=only),
            await shop.tuning(budget=40, initial=INITIAL, strategy="lama"),
        ):
            result = await shop.result(session_id)
            assert not result.HasField("outlier_share")
            assert not result.HasField("expected_gain")

    work(redis_url, act)


@pytest.mark.parametrize(
    ("gain", "said"),
    [(0.0231, "by about 0.02."), (0.004, "by less than 0.005."), (None, "")],
)
def test_advice_names_the_gain(gain: float | None, said: str) -> None:
    live = tuning_pb2.LiveEvidence(labels=5, expected_gain=gain)
    add_advice(live, [], budget=50)
    sentence = f" 10 more labels would probably raise kappa {said}" if said else ""
    assert live.advice.endswith(sentence)
    assert ("probably" in live.advice) == bool(said)


def test_advice_at_the_end_of_the_budget_names_no_gain() -> None:
    live = tuning_pb2.LiveEvidence(labels=50, expected_gain=0.03)
    add_advice(live, [], budget=50)
    assert live.advice == "All 50 labels of the budget are given."
