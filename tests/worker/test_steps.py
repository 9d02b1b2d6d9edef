"""Jobs of sessions with several labelers, by a real worker on a real server."""

import asyncio
import sys

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.numerics import LabelArray
from svddtune.state.session import (
    Lease,
    SessionId,
    SessionState,
    Verdict,
)
from svddtune.v1 import common_pb2, oracle_pb2, tuning_pb2
from svddtune.worker.loop import WorkerLoop

pytestmark = pytest.mark.integration

X, TRUTH = blobs(120, 4, seed=0)
PREVIEW_ID = "0" * 32


async def label(
    shop: Workshop, session_id: SessionId, labelers: dict[str, LabelArray], *, rounds: int
) -> list[Lease]:
    """Let every labeler answer one query a round by its own truth; the queries."""
    asked = []
    for name, verdicts in list(labelers.items()) * rounds:
        leases = await shop.lease(session_id, name)
        if not leases:
            shop.worker.work_off()
            leases = await shop.lease(session_id, name)
        for lease in leases:
            asked.append(lease)
            verdict = Verdict(int(verdicts[lease.row]))
            await shop.answer(session_id, lease, verdict, labeler=name)
    shop.worker.work_off()
    return asked


def test_query_carries_nearby_rows_and_unusual_features(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        inlying = np.flatnonzero(TRUTH == 1)[:5].tolist()
        session_id = await shop.tuning(budget=16, initial=dict.fromkeys(inlying, Verdict.INLIER))
        asked = await label(shop, session_id, {"ann": TRUTH}, rounds=8)
        (lease,) = await shop.lease(session_id)
        (stored,) = await shop.sessions.explanations(session_id, [lease.query])
        explanation = oracle_pb2.Explanation.FromString(stored)
        labelled = {row: int(TRUTH[row]) for row in (*inlying, *(one.row for one in asked))}
        nearest = sorted((float(np.square(X[lease.row] - X[row]).sum()), row) for row in labelled)
        verdicts = {1: common_pb2.VERDICT_INLIER, -1: common_pb2.VERDICT_OUTLIER}
        assert [(one.observation_id, one.verdict) for one in explanation.nearby] == [
            (str(row), verdicts[labelled[row]]) for _, row in nearest[:3]
        ]
        # (The data are not scaled.)
        np.testing.assert_allclose(
            [one.distance2 for one in explanation.nearby], [distance for distance, _ in nearest[:3]]
        )
        inliers = X[[row for row, verdict in labelled.items() if verdict == 1]]
        assert explanation.reference_inliers == len(inliers)
        for one in explanation.unusual:
            median = np.median(inliers[:, one.column])
            mad = np.median(np.abs(inliers[:, one.column] - median))
            assert (one.value, one.typical) == (X[lease.row, one.column], median)
            expected = (X[lease.row, one.column] - median) / (1.4826 * mad)
            assert one.deviation == pytest.approx(np.clip(expected, -99, 99))
        assert explanation.why

    work(redis_url, act)


async def preview_of(shop: Workshop, session_id: SessionId, labeler: str) -> jobs_pb2.Preview:
    """What withdrawing a labeler would do."""
    await shop.sessions.preview_withdrawal(session_id, labeler, PREVIEW_ID)
    assert shop.worker.work_off() == ["PREVIEW"]
    preview = await shop.sessions.preview(session_id, PREVIEW_ID)
    assert preview is not None
    return preview


def test_preview_has_live_evidence_with_and_without_labeler(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(budget=20)
        asked = await label(shop, session_id, {"ann": TRUTH, "ben": -TRUTH}, rounds=8)
        assert len(asked) == 16
        live = tuning_pb2.LiveEvidence.FromString((await shop.sessions.get(session_id)).live)
        preview = await preview_of(shop, session_id, "ben")
        assert preview.before == live
        # With Ben's labels goes what contradicts the truth.
        assert (preview.before.labels, preview.after.labels) == (16, 8)
        assert preview.after.quality.value > preview.before.quality.value
        # And it comes true.
        await shop.sessions.withdraw(session_id, "ben", by="test")
        shop.worker.work_off()
        live = tuning_pb2.LiveEvidence.FromString((await shop.sessions.get(session_id)).live)
        assert (live.gamma, live.c) == (preview.after.gamma, preview.after.c)
        assert live.quality == preview.after.quality

    work(redis_url, act)


def test_preview_has_no_score_without_both_classes(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(budget=20)
        ones = np.ones_like(TRUTH)
        await label(shop, session_id, {"ann": ones, "ben": -ones}, rounds=2)
        preview = await preview_of(shop, session_id, "ben")
        assert preview.HasField("before")
        assert not preview.HasField("after")

    work(redis_url, act)


def test_result_notes_several_votes(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(budget=30, overlap=2, overlap_limit=3, audit=4)
        await label(shop, session_id, {"ann": TRUTH, "ben": TRUTH}, rounds=12)
        result = await shop.result(session_id)
        noise = numerics.estimate_noise([[1, 1]] * result.quality.counts.total)
        assert [note for note in result.notes if "votes" in note] == [
            "12 of 12 observations have several votes; 100% of the pairs of votes agree. "
            "On average an observation has 2.0 votes.",
            "Labels follow the majority of votes.",
            f"An answer is taken as wrong with probability {noise:.2g} (estimated from these "
            "votes), so labels that others contradict count less.",
        ]
        certainty = numerics.label_certainty(1, [1, 1], [noise, noise])
        audited = result.audit.counts.total
        assert sorted(result.manifest.certainties) == [certainty] * (12 - audited) + [1.0] * audited
        verdicts = {1: common_pb2.VERDICT_INLIER, -1: common_pb2.VERDICT_OUTLIER}
        rows = list(result.manifest.labeled_rows)
        # All rows, each once, though each has two votes; those of the audit too.
        assert len(rows) == len({*rows}) == 12
        assert list(result.manifest.verdicts) == [verdicts[int(TRUTH[row])] for row in rows]
        assert result.quality.counts.total + result.audit.counts.total == 12
        assert result.audit.counts.total > 0

    work(redis_url, act)


@pytest.mark.slow
def test_result_with_dawid_skene_weighs_labelers(redis_url: str) -> None:
    rng = np.random.default_rng(1)
    guesses = {
        name: rng.choice(np.array([1, -1], dtype=np.int8), len(X)) for name in ("cem", "dan", "eva")
    }
    labelers = {"ann": TRUTH, "ben": TRUTH, **guesses}

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.tuning(
            budget=60, overlap=5, overlap_limit=5, aggregation="dawid_skene"
        )
        asked = await label(shop, session_id, labelers, rounds=16)
        votes = {
            lease.row: {name: int(said[lease.row]) for name, said in labelers.items()}
            for lease in asked
        }
        assert len(votes) == len(asked) / 5 == 16
        result = await shop.result(session_id)
        verdicts = {1: common_pb2.VERDICT_INLIER, -1: common_pb2.VERDICT_OUTLIER}
        assert dict(zip(result.manifest.labeled_rows, result.manifest.verdicts, strict=True)) == {
            row: verdicts[-1 if chance > 0.5 else 1]
            for row, chance in numerics.dawid_skene(votes).items()
        }
        wrong = sum(sum(of_row.values()) * TRUTH[row] < 0 for row, of_row in votes.items())
        assert wrong > 0
        note = (
            "Labels are estimated by the model of Dawid and Skene, which weights labelers by their "
            f"estimated reliability; {wrong} of them differ from the majority vote."
        )
        assert note in result.notes
        assert "crowd-kit" in result.manifest.versions

    work(redis_url, act)


def test_session_with_dawid_skene_fails_with_advice_without_crowd_kit(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        session_id = await shop.sessions.create(
            shop.dataset_id,
            SessionConfig(aggregation="dawid_skene"),
            observation_count=len(X),
        )
        loop = WorkerLoop(shop.worker.queue, shop.worker.steps)
        working = asyncio.create_task(asyncio.to_thread(loop.run, {}))
        try:
            while not (session := await shop.sessions.get(session_id)).state.ended:
                await asyncio.sleep(0.01)
        finally:
            loop.stop()
            await working
        assert session.state is SessionState.FAILED
        assert session.failure is not None
        assert session.failure.reason == "DAWID_SKENE_UNAVAILABLE"
        assert session.failure.message.endswith('pip install "svddtune[dawid-skene]".')

    work(redis_url, act)
