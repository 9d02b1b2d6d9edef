"""The refined detector of a session: compared while it asks, in its result and in its model."""

import numpy as np
import pytest
from tests.numerics.cases import blobs
from tests.worker.scene import Workshop, work

from svddtune import numerics
from svddtune.client import SvddModel
from svddtune.client.wire.download import model_from_stream
from svddtune.numerics.refined import fit_refined, refined_basis
from svddtune.state.session import SessionId, Verdict
from svddtune.v1 import result_pb2, tuning_pb2

pytestmark = pytest.mark.integration

X, TRUTH = blobs(120, 4, seed=0)
OUTLIERS = np.flatnonzero(TRUTH == -1)
INLIERS = np.flatnonzero(TRUTH == 1)
SEVERAL = np.concatenate((OUTLIERS[:4], INLIERS[:8]))


async def labelled(shop: Workshop, rows: np.ndarray, **config: object) -> SessionId:
    """Create a session whose initial labels are those of some rows."""
    await shop.upload_rows(X)
    initial = {int(row): Verdict(int(TRUTH[row])) for row in rows}
    return await shop.tuning(initial=initial, **{"budget": 40, **config})


async def model_of(shop: Workshop, session_id: SessionId) -> SvddModel:
    """The model of the session's result."""
    pieces: list[bytes] = []
    while (piece := await shop.sessions.model_piece(session_id, None, len(pieces))) is not None:
        pieces.append(piece)
    return model_from_stream(map(tuning_pb2.ExportModelResponse.FromString, pieces))


def test_detectors_are_compared_while_the_session_asks(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await labelled(shop, SEVERAL)
        session = await shop.sessions.get(session_id)
        compared = result_pb2.DetectorComparison.FromString(session.detectors)
        assert compared.labels == len(SEVERAL)
        for quality in (compared.svdd, compared.refined):
            assert quality.kind == result_pb2.Quality.KIND_HELD_OUT
            assert (quality.counts.inlier, quality.counts.outlier) == (8, 4)
            assert quality.interval.low <= quality.value <= quality.interval.high
        difference = compared.refined.value - compared.svdd.value
        assert compared.difference.low <= difference <= compared.difference.high

    work(redis_url, act)


def test_result_and_model_have_the_refined_detector_of_the_labels(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await labelled(shop, SEVERAL, seed=3)
        result = await shop.result(session_id)
        model = await model_of(shop, session_id)
        labels = np.zeros(len(X), dtype=np.int8)
        labels[SEVERAL] = TRUTH[SEVERAL]
        own = fit_refined(refined_basis(numerics.Views(X)), X, labels, seed=3)
        assert own is not None
        np.testing.assert_array_equal(model.probability(X), own.probability(X))
        np.testing.assert_array_equal(model.predict(X, which="refined"), own.predict(X))
        assert result.refined.outside_count == (own.predict(X) == -1).sum()
        assert result.refined.comparison.labels == len(SEVERAL)

    work(redis_url, act)


@pytest.mark.parametrize(
    ("rows", "strategy"), [(INLIERS[:9], "knowledge_gradient"), (SEVERAL, "lama")]
)
def test_result_without_atlas_or_second_class_has_no_refined_detector(
    redis_url: str, rows: np.ndarray, strategy: str
) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await labelled(shop, rows, strategy=strategy)
        assert not (await shop.result(session_id)).HasField("refined")
        assert (await model_of(shop, session_id)).refined is None

    work(redis_url, act)


def test_single_outlier_label_gives_refined_detector_without_comparison(redis_url: str) -> None:
    async def act(shop: Workshop) -> None:
        session_id = await labelled(shop, np.append(INLIERS[:9], OUTLIERS[0]))
        refined = (await shop.result(session_id)).refined
        assert refined.outside_count > 0
        assert not refined.HasField("comparison")

    work(redis_url, act)
