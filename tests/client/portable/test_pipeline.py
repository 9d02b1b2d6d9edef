import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from tests.client.models import fit, rows
from tests.client.portable.sphere import SHAPES, fit_sphere, probes, sample_rows
from tests.profiles import sized

from svddtune.client.portable.pipeline import sphere_pipeline


@settings(deadline=None, max_examples=sized(150))
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    seed=st.integers(0, 10**6),
    M=st.integers(1, 7),
    nu=st.sampled_from([0.02, 0.1, 0.4, 0.9]),
)
def test_pipeline_has_the_decision_of_the_definition(
    shape: str, seed: int, M: int, nu: float
) -> None:
    X = sample_rows(seed, M=M)
    sphere = fit_sphere(SHAPES[shape](X), X, nu=nu)
    pipeline, tried = sphere_pipeline(sphere), probes(X, seed)
    check_is_fitted(pipeline)
    expected = sphere.decision(tried)
    np.testing.assert_allclose(pipeline.decision_function(tried), expected, atol=1e-9)
    # Rows on the boundary lie the model's tolerance, 1e-7, inside. Of values near 1e9 all distances
    # are tiny, so a few other rows may come closer, where rounding decides.
    clear = np.abs(expected) > 1e-9
    np.testing.assert_array_equal(
        pipeline.predict(tried)[clear], np.where(expected >= 0, 1, -1)[clear]
    )
    assert clear[: len(X)].mean() > 0.9


def test_pipeline_of_a_model_predicts_the_same() -> None:
    model, X = fit(feature_names=()), np.vstack([rows(), rows(5), rows(6) * 100])
    pipeline = model.to_sklearn()
    np.testing.assert_array_equal(pipeline.predict(X), model.predict(X))
    np.testing.assert_allclose(pipeline.decision_function(X), model.decision(X), atol=1e-12)


def test_frames_are_checked_by_name() -> None:
    pipeline = fit().to_sklearn()
    assert pipeline.feature_names_in_.tolist() == ["f0", "f1", "f2"]
    frame = pd.DataFrame(rows(5), columns=["f0", "f1", "f2"])
    np.testing.assert_array_equal(pipeline.predict(frame), fit().predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        pipeline.predict(frame[["f1", "f0", "f2"]])


def test_model_without_names_has_a_pipeline_without_names() -> None:
    pipeline = fit(feature_names=()).to_sklearn()
    assert not hasattr(pipeline, "feature_names_in_")
    assert pipeline.n_features_in_ == 3


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_numbers_of_other_types_are_taken_as_doubles(dtype: type) -> None:
    X: NDArray[Any] = sample_rows(1).astype(dtype)
    sphere = fit_sphere(SHAPES["minmax"](X.astype(np.float64)), X.astype(np.float64))
    np.testing.assert_allclose(
        sphere_pipeline(sphere).decision_function(X),
        sphere.decision(X.astype(np.float64)),
        atol=1e-12,
    )


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_unfitted_clone_can_be_made(shape: str) -> None:
    X = sample_rows(2)
    clone(sphere_pipeline(fit_sphere(SHAPES[shape](X), X)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(value: float) -> None:
    X = rows(5)
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(feature_names=()).to_sklearn().predict(X)


def test_pickled_pipeline_is_loaded_where_svddtune_cannot_be_imported(tmp_path: Path) -> None:
    X = sample_rows(3)
    sphere = fit_sphere(SHAPES["mixed"](X), X)
    (tmp_path / "pipeline.pickle").write_bytes(pickle.dumps(sphere_pipeline(sphere)))
    np.save(tmp_path / "X.npy", X)
    program = """
import pickle, sys
import numpy as np
sys.modules["svddtune"] = None
with open("pipeline.pickle", "rb") as file:
    pipeline = pickle.load(file)
np.save("decision.npy", pipeline.decision_function(np.load("X.npy")))
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=60)
    np.testing.assert_allclose(np.load(tmp_path / "decision.npy"), sphere.decision(X), atol=1e-9)
