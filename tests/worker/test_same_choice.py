"""The service ends a session with the choice that the method makes in one process."""

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.numerics import FloatArray
from svddtune.state.session import SessionState, Verdict
from svddtune.v1 import dataset_pb2, result_pb2, tuning_pb2
from svddtune.worker.scalings import scaling_word

pytestmark = pytest.mark.integration

X, TRUTH = blobs(60, 3, seed=4)
INLIERS, OUTLIERS = np.flatnonzero(TRUTH == 1)[:8], np.flatnonzero(TRUTH == -1)[:3]
LABELLED = {
    "no label": [],
    "inliers only": [*INLIERS],
    "outliers only": [*OUTLIERS],
    "both classes": [*INLIERS, *OUTLIERS],
}
STRATEGIES = ("lama", "random", "disagreement", "knowledge_gradient", "mixed")


async def _result(
    shop: Workshop,
    strategy: str,
    rows: list[int],
    bounds: tuple[float, float] | None = None,
    c_tie_rule: str = "plateau",
) -> result_pb2.TuningResult:
    session_id = await shop.tuning(
        initial={int(row): Verdict(int(TRUTH[row])) for row in rows},
        strategy=strategy,
        budget=30,
        gamma_bounds=bounds,
        c_tie_rule=c_tie_rule,
    )
    await shop.sessions.finish(session_id)
    shop.worker.work_off()
    session = await shop.sessions.get(session_id)
    assert session.state is SessionState.COMPLETED, session.failure
    return result_pb2.TuningResult.FromString(await shop.sessions.result(session_id))


def test_service_and_single_process_choose_the_same_for_any_labelled_classes(
    redis_url: str,
) -> None:
    prep = numerics.prepare(X, k=8)
    atlas, basis = numerics.fit_atlas(X, prep.gamma_bounds), numerics.belief_basis(X)

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        for rows in LABELLED.values():
            labels = np.zeros(len(X), dtype=np.int8)
            labels[rows] = TRUTH[rows]
            for strategy in ("lama", "knowledge_gradient"):
                if strategy == "lama":
                    final = numerics.finish(prep, X, labels, k=5)
                else:
                    final = numerics.finish_with_atlas(prep, X, labels, atlas, basis, k=5)
                result = await _result(shop, strategy, rows)
                assert result.gamma == pytest.approx(final.gamma, rel=1e-9)
                assert result.c == pytest.approx(final.model.C, rel=1e-9)
                assert result.outside_count == int((final.predictions == -1).sum())
                assert not (final.predictions[labels == 1] == -1).any() or len(rows) > 8

    work(redis_url, act)


def test_sessions_follow_the_rules_for_ties_and_tau(redis_url: str) -> None:
    prep = numerics.prepare(X, k=8)
    labels = np.zeros(len(X), dtype=np.int8)
    rows = [*INLIERS[:4], *OUTLIERS[:2]]
    labels[rows] = TRUTH[rows]
    final = numerics.finish(prep, X, labels, k=5, rule="first")
    assert final.chosen != numerics.finish(prep, X, labels, k=5).chosen

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        result = await _result(shop, "lama", rows, c_tie_rule="first")
        assert result.c == pytest.approx(final.model.C, rel=1e-9)
        asked = {}
        for rule in numerics.TAU_RULES:
            session_id = await shop.tuning(
                initial={int(row): Verdict(int(TRUTH[row])) for row in rows},
                strategy="lama",
                budget=30,
                candidate_sample=1000,
                tau_rule=rule,
            )
            asked[rule] = [lease.row for lease in await shop.lease(session_id, most=5)]
        for rule in numerics.TAU_RULES:
            suggestion = numerics.suggest(
                prep, X, labels, k=5, strategy="lama", sample=0,
                rng=np.random.default_rng(0), tau_rule=rule,
            )  # fmt: skip
            assert asked[rule] == suggestion.rows[:5].tolist()
        assert asked["propagated"] != asked["printed"]

    work(redis_url, act)


RAW = X * np.array([1e3, 1.0, 1e-3]) + np.array([5.0, -2.0, 0.0])
"""The rows with columns of mixed units."""
SKEWED = np.exp(4.0 * X)
"""The rows with heavy tails, so that representations differ in more than units."""


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(RAW, id="mixed units"),
        pytest.param(SKEWED, id="skewed", marks=[pytest.mark.slow, pytest.mark.thorough]),
    ],
)
def test_service_and_single_process_choose_the_same_scaling_for_any_labelled_classes(
    redis_url: str, raw: FloatArray
) -> None:
    views = numerics.Views(raw, "auto")
    prep = numerics.prepare(views.X, k=8)
    atlas, basis = numerics.fit_atlas(views), numerics.belief_basis(views.rows(views.belief))

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(raw, "auto")
        for rows in LABELLED.values():
            labels = np.zeros(len(X), dtype=np.int8)
            labels[rows] = TRUTH[rows]
            for strategy in ("lama", "knowledge_gradient"):
                if strategy == "lama":
                    final = numerics.finish(prep, views, labels, k=5)
                    assert final.scaling == "minmax"
                else:
                    final = numerics.finish_with_atlas(prep, views, labels, atlas, basis, k=5)
                result = await _result(shop, strategy, rows)
                assert scaling_word(result.scaling) == final.scaling
                assert result.gamma == pytest.approx(final.gamma, rel=1e-9)
                assert result.c == pytest.approx(final.model.C, rel=1e-9)
                assert result.outside_count == int((final.predictions == -1).sum())
                assert result.manifest.scaling == dataset_pb2.SCALING_KIND_AUTO
                assert result.manifest.base_scaling == dataset_pb2.SCALING_KIND_MINMAX
                held = [scaling_word(kind) for kind in result.manifest.atlas_scalings]
                assert held == ([] if strategy == "lama" else list(views.kinds))

    work(redis_url, act)


@pytest.mark.parametrize("raw", [RAW, SKEWED], ids=["mixed units", "skewed"])
@pytest.mark.parametrize("strategy", ["lama", "knowledge_gradient"])
def test_service_and_single_process_ask_the_same_queries_with_scaling_auto(
    redis_url: str, raw: FloatArray, strategy: numerics.Strategy
) -> None:
    views, budget = numerics.Views(raw, "auto"), 14
    expected = numerics.run(views, TRUTH, budget=budget, seed=3, strategy=strategy)
    started = numerics.draw_initial(TRUTH, 2, 2, seed=3)

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(raw, "auto")
        session_id = await shop.tuning(
            initial={int(row): Verdict(int(TRUTH[row])) for row in started},
            strategy=strategy,
            budget=budget,
            seed=3,
        )
        asked = []
        while leases := await shop.lease(session_id):
            (lease,) = leases
            asked.append(lease.row)
            before = await shop.sessions.get(session_id)
            if strategy == "knowledge_gradient":
                live = tuning_pb2.LiveEvidence.FromString(before.live)
                choice = expected.choices[len(asked) - 1]
                assert scaling_word(live.scaling) == choice.scaling
                assert before.scaling == live.scaling
            else:
                assert before.scaling == dataset_pb2.SCALING_KIND_MINMAX
            await shop.answer(session_id, lease, Verdict(int(TRUTH[lease.row])))
            shop.worker.work_off()
        assert asked == expected.queries.tolist()
        session = await shop.sessions.get(session_id)
        assert session.state is SessionState.COMPLETED, session.failure
        result = result_pb2.TuningResult.FromString(await shop.sessions.result(session_id))
        assert scaling_word(result.scaling) == expected.final.scaling
        assert session.scaling == result.scaling
        assert result.gamma == pytest.approx(expected.final.gamma, rel=1e-9)
        assert result.c == pytest.approx(expected.final.model.C, rel=1e-9)

    work(redis_url, act)


@pytest.mark.parametrize(
    "bounds",
    [
        (50.0, 60.0),
        pytest.param((1e-4, 2e-4), marks=[pytest.mark.slow, pytest.mark.thorough]),
        pytest.param((3e4, 1e6), marks=[pytest.mark.slow, pytest.mark.thorough]),
    ],
)
def test_gamma_lies_within_requested_bounds_with_every_strategy(
    redis_url: str, bounds: tuple[float, float]
) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        for strategy in STRATEGIES:
            for rows in (LABELLED["no label"], LABELLED["both classes"]):
                result = await _result(shop, strategy, rows, bounds)
                assert bounds[0] <= result.gamma <= bounds[1]
                assert all(bounds[0] <= p.gamma <= bounds[1] for p in result.alignment_curve)

    work(redis_url, act)


def test_result_names_columns_that_hardly_count(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X * np.array([1.0, 1.0, 1e5]))
        result = await _result(shop, "lama", LABELLED["both classes"])
        (note,) = [note for note in result.notes if "the spread of" in note]
        assert "Column 2 has" in note
        assert "times the spread of column" in note
        assert "Scale the columns" in note
        await shop.upload_rows(X)
        result = await _result(shop, "lama", LABELLED["both classes"])
        assert not [note for note in result.notes if "the spread of" in note]

    work(redis_url, act)
