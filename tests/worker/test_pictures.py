"""What workers keep for people beside a session: portrait, history, cells and margins."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work
from tests.worker.snapshots import snapshot_of

from svddtune import numerics
from svddtune.numerics import IndexArray, Views
from svddtune.profile import Sketch
from svddtune.state import keys
from svddtune.state.pictures import Pictures
from svddtune.state.session import LabelCounts, SessionId, Verdict
from svddtune.v1 import dataset_pb2, tuning_pb2
from svddtune.worker import pictures
from svddtune.worker.data import MAP_LABELLED, Data
from svddtune.worker.portrait import portrait_of
from svddtune.worker.scalings import scaling_word

pytestmark = pytest.mark.integration

X, TRUTH = blobs(120, 4, seed=0)


async def label(shop: Workshop, session_id: SessionId, count: int) -> None:
    """Answer queries one by one by the truth."""
    for _ in range(count):
        (lease,) = await shop.lease(session_id)
        await shop.answer(session_id, lease, Verdict(int(TRUTH[lease.row])))
        shop.worker.work_off()


def data_of(shop: Workshop) -> Data:
    (data,) = [
        entry for entry, _ in shop.worker.steps._cache._entries.values() if isinstance(entry, Data)
    ]
    return data


def test_portrait_tells_what_each_feature_is_like_and_where_rows_are(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        await shop.tuning(budget=6, strategy="random")
        portrait = await Pictures(shop.client).portrait(shop.dataset_id)
        spread = numerics.spread_of(X)
        for column, feature in enumerate(portrait.features):
            sketch = Sketch.of(X[:, column])
            assert feature.column == column
            np.testing.assert_array_equal(feature.points, sketch.points)
            np.testing.assert_array_equal(feature.shares, sketch.shares)
            assert (feature.center, feature.spread) == (spread.center[column], spread.scale[column])
            assert (feature.minimum, feature.maximum) == (X[:, column].min(), X[:, column].max())
        assert len(portrait.features) == 4
        places = numerics.plane_of(X).places(X)
        assert list(portrait.rows) == list(range(120))
        np.testing.assert_allclose(portrait.x, places[:, 0], rtol=1e-5)
        np.testing.assert_allclose(portrait.y, places[:, 1], rtol=1e-5)
        # Another preparation finds it there.
        await shop.tuning(budget=6, strategy="random", k=9)
        assert await Pictures(shop.client).portrait(shop.dataset_id) == portrait

    work(redis_url, act)


@pytest.mark.parametrize(
    ("strategy", "found"), [("mixed", "while it asks"), ("random", "at its end")]
)
def test_dataset_prepared_by_an_earlier_version_gets_its_portrait_later(
    redis_url: str, strategy: str, found: str
) -> None:
    async def act(shop: Workshop) -> None:
        pictures = Pictures(shop.client)
        await shop.upload_rows(X)
        await shop.tuning(budget=6, strategy="random")
        portrait = await pictures.portrait(shop.dataset_id)
        dataset = keys.dataset(0, shop.dataset_id)
        await shop.client.hdel(dataset, "portrait")
        await shop.client.delete(keys.dataset(0, shop.dataset_id, "portrait:0"))

        known = {
            int(row): Verdict(verdict)
            for verdict in (1, -1)
            for row in np.flatnonzero(TRUTH == verdict)[:2]
        }
        session_id = await shop.tuning(budget=6, strategy=strategy, initial=known)
        await label(shop, session_id, 1)
        seen = await Pictures(shop.client).portrait(shop.dataset_id)
        assert bool(seen.rows) is (found == "while it asks")
        await shop.result(session_id)
        assert await Pictures(shop.client).portrait(shop.dataset_id) == portrait
        assert await shop.client.ttl(keys.dataset(0, shop.dataset_id, "portrait:0")) == -1

    work(redis_url, act)


def test_history_has_a_point_for_each_ranking(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        both = {int(np.flatnonzero(TRUTH == verdict)[0]): Verdict(verdict) for verdict in (1, -1)}
        session_id = await shop.tuning(budget=6, strategy="mixed", initial=both)
        seen = []
        for _ in range(3):
            session = await shop.sessions.get(session_id)
            live = tuning_pb2.LiveEvidence.FromString(session.live)
            seen.append((live, session.counts))
            await label(shop, session_id, 1)
        points = [point async for _, point in Pictures(shop.client).history(session)]
        assert [one.labels for one in points] == [2, 3, 4, 5]
        for point, (live, counts) in zip(points, seen, strict=False):
            assert (point.gamma, point.c, point.scaling) == (live.gamma, live.c, live.scaling)
            assert (point.quality, point.expected) == (live.quality, live.expected)
            assert (point.outside_count, point.advice) == (live.outside_count, live.advice)
            assert (point.counts.inlier, point.counts.outlier) == (counts.inlier, counts.outlier)
            assert not point.HasField("alignment")
        times = [one.time.ToMilliseconds() for one in points]
        assert session.created_ms <= times[0] < times[1] < times[2] < times[3]
        result = await shop.result(session_id)
        last = [point async for _, point in Pictures(shop.client).history(session)][-1]
        assert (last.labels, last.gamma, last.c) == (5, result.gamma, result.c)

    work(redis_url, act)


def test_history_without_an_atlas_has_gamma_and_alignment(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        both = {int(np.flatnonzero(TRUTH == verdict)[0]): Verdict(verdict) for verdict in (1, -1)}
        session_id = await shop.tuning(budget=4, strategy="lama", initial=both)
        session = await shop.sessions.get(session_id)
        await label(shop, session_id, 1)
        first, second = [point async for _, point in Pictures(shop.client).history(session)]
        assert (first.gamma, first.alignment) == (session.gamma, session.alignment)
        assert first.gamma > 0
        assert first.c == 0
        assert not first.HasField("quality")
        assert second.labels == 3
        result = await shop.result(session_id)
        last = [point async for _, point in Pictures(shop.client).history(session)][-1]
        assert (last.gamma, last.c, last.quality) == (result.gamma, result.c, result.quality)
        stored = await Pictures(shop.client).map(session_id, shop.dataset_id)
        outside = np.array(stored.margins.of_portrait) > 1e-5
        assert outside.sum() == result.outside_count

    work(redis_url, act)


def test_cells_are_scored_and_weighed_as_the_labels_say(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X, scaling="auto")
        both = {int(np.flatnonzero(TRUTH == verdict)[0]): Verdict(verdict) for verdict in (1, -1)}
        session_id = await shop.tuning(budget=20, strategy="mixed", initial=both)
        await label(shop, session_id, 4)
        session = await shop.sessions.get(session_id)
        live = tuning_pb2.LiveEvidence.FromString(session.live)
        stored = await Pictures(shop.client).cells(session_id)
        assert stored.labels == 6
        assert [scaling_word(one.scaling) for one in stored.layers] == list(numerics.AUTO_SCALINGS)
        assert stored.ByteSize() < 25_000
        weights = np.concatenate([one.weights for one in stored.layers])
        assert weights.sum() == pytest.approx(1.0, abs=1e-4)
        for layer in stored.layers:
            shape = (len(layer.gammas), -1)
            costs, scores = np.reshape(layer.costs, shape), np.reshape(layer.scores, shape)
            there = costs > 0
            assert (np.diff(layer.gammas) > 0).all()
            assert len(layer.weights) == len(layer.outside_counts) == costs.size
            assert (scores[~there] == -2).all()
            assert (np.abs(scores[there]) <= 1).all()
            for row, known in zip(costs, there, strict=True):
                assert (np.diff(row[known]) > 0).all()
                assert not known[known.sum() :].any()
        (best,) = [one for one in stored.layers if one.scaling == live.scaling]
        at = np.flatnonzero(np.array(best.gammas) == live.gamma)[0]
        column = slice(at * (len(best.costs) // len(best.gammas)), None)
        place = list(best.costs[column]).index(live.c)
        assert best.scores[column][place] == pytest.approx(live.expected, abs=1e-6)
        assert best.outside_counts[column][place] == live.outside_count
        assert best.weights[column][place] == pytest.approx(weights.max())

    work(redis_url, act)


def test_margins_are_positive_where_the_best_cell_has_rows_outside(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X, scaling="auto")
        inlying, outlying = (np.flatnonzero(TRUTH == verdict)[:3] for verdict in (1, -1))
        known = dict.fromkeys(inlying.tolist(), Verdict.INLIER)
        known |= dict.fromkeys(outlying.tolist(), Verdict.OUTLIER)
        session_id = await shop.tuning(budget=9, strategy="mixed", initial=known)
        session = await shop.sessions.get(session_id)
        live = tuning_pb2.LiveEvidence.FromString(session.live)
        stored = await Pictures(shop.client).map(session_id, shop.dataset_id)
        views = data_of(shop).views
        model = numerics.fit(views.rows(scaling_word(live.scaling)), gamma=live.gamma, C=live.c)
        rows = views.rows(scaling_word(live.scaling))
        assert stored.margins.labels == 6
        np.testing.assert_allclose(
            stored.margins.of_portrait, model.distance2(rows) - model.R2, atol=1e-6
        )
        assert (np.array(stored.margins.of_portrait) > 1e-5).sum() == live.outside_count
        result = await shop.result(session_id)
        stored = await Pictures(shop.client).map(session_id, shop.dataset_id)
        assert (np.array(stored.margins.of_portrait) > 1e-5).sum() == result.outside_count

    work(redis_url, act)


def test_map_of_a_larger_set_shows_labelled_rows_beside_its_sample() -> None:
    rows, _ = blobs(2400, 2, seed=5)
    description = dataset_pb2.Dataset(observation_count=2400, feature_count=2)
    data = Data(description, Views(rows, "minmax"))
    portrait = portrait_of(data)
    assert len(portrait.rows) == 1500
    beside = sorted(set(range(2400)) - set(portrait.rows))
    votes = {row: {"ann": 1} for row in (beside[5], beside[2], portrait.rows[0])}
    snapshot = snapshot_of(votes, N=2400)
    model = numerics.fit(data.views.rows("minmax"), gamma=2.0, C=0.01)
    found = pictures.of_model(snapshot, data, model, "minmax", labels=3)
    places: Any = found["places"]
    margins: Any = found["margins"]
    assert list(places.rows) == list(margins.rows) == [beside[2], beside[5]]
    expected = data.plane.places(rows[[beside[2], beside[5]]])
    np.testing.assert_allclose(np.transpose([places.x, places.y]), expected, rtol=1e-5)
    distance2 = model.distance2(data.views.rows("minmax"))
    seen = np.array([*margins.of_portrait, *margins.of_rows])
    shown = np.array([*portrait.rows, *places.rows])
    np.testing.assert_allclose(seen, distance2[shown] - model.R2, atol=1e-6)


def test_map_shows_a_lasting_part_of_many_labelled_rows() -> None:
    count, N = MAP_LABELLED + 400, 6000
    description = dataset_pb2.Dataset(observation_count=N, feature_count=2)
    data = Data(description, Views(blobs(N, 2, seed=5)[0], "minmax"))
    beside = np.setdiff1d(np.arange(N), data.map_rows)

    def shown(labelled: IndexArray) -> set[int]:
        snapshot = snapshot_of({int(row): {"ann": 1} for row in labelled}, N=N)
        found = pictures.labelled_beside(snapshot, data)
        assert list(found) == sorted(found)
        return set(found.tolist())

    first = shown(beside[:count])
    assert len(first) == MAP_LABELLED
    assert first < set(beside[:count].tolist())
    # Rows from all over the dataset, and ten more labels displace at most ten.
    assert max(first) > beside[count - 100]
    assert len(first - shown(beside[: count + 10])) <= 10
    assert shown(beside[:50]) == set(beside[:50].tolist())


@pytest.mark.parametrize(
    ("labels", "pictured", "due"),
    [(0, -1, True), (0, 0, False), (7, 6, True), (6, 7, True), (14, 10, False), (15, 10, True)],
)
def test_pictures_are_made_anew_as_labels_come(labels: int, pictured: int, due: bool) -> None:
    snapshot = snapshot_of({})
    session = replace(snapshot.session, counts=LabelCounts(inlier=labels))
    assert pictures.are_due(replace(snapshot, session=session, pictured=pictured)) is due
