"""Landmarks: their factor never exceeds the covariance, and is exact where they are enough."""

import numpy as np
import pytest
from tests.numerics.cases import blobs

from svddtune.numerics import FloatArray
from svddtune.numerics.landmarks import Landmarks, draw_landmarks

X, _ = blobs(90, 3, seed=2)
K = 0.5 + np.exp(-np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2)))


def draw(covariance: FloatArray, count: int) -> Landmarks:
    return draw_landmarks(np.diag(covariance), lambda row: covariance[row], count)


@pytest.mark.parametrize("count", [1, 10, 60])
def test_what_the_factor_leaves_of_the_covariance_is_positive_semidefinite(count: int) -> None:
    landmarks = draw(K, count)
    F = landmarks.features.astype(np.float64)
    assert F.shape == (90, count)
    assert len(np.unique(landmarks.rows)) == count
    assert np.linalg.eigvalsh(K - F @ F.T).min() > -1e-5


def test_covariances_of_landmarks_are_exact() -> None:
    landmarks = draw(K, 20)
    F = landmarks.features.astype(np.float64)
    np.testing.assert_allclose((F @ F.T)[landmarks.rows], K[landmarks.rows], atol=1e-5)


def test_landmarks_end_where_they_explain_all_rows() -> None:
    rows = np.repeat(np.arange(7), 4)
    landmarks = draw(K[np.ix_(rows, rows)], 20)
    assert len(landmarks.rows) == 7
    F = landmarks.features.astype(np.float64)
    np.testing.assert_allclose(F @ F.T, K[np.ix_(rows, rows)], atol=1e-5)


def test_features_of_further_rows_follow_from_their_covariance_with_the_landmarks() -> None:
    landmarks = draw(K[:60, :60], 25)
    F = landmarks.features.astype(np.float64)
    others = landmarks.features_of(K[60:, landmarks.rows])
    np.testing.assert_allclose(others @ F[landmarks.rows].T, K[60:, landmarks.rows], atol=1e-4)
    np.testing.assert_allclose(landmarks.features_of(K[:60, landmarks.rows]), F, atol=1e-3)


def test_same_seed_draws_the_same_landmarks() -> None:
    np.testing.assert_array_equal(draw(K, 12).rows, draw(K, 12).rows)
