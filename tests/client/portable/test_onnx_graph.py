from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.models import fit, rows
from tests.client.portable.sphere import SHAPES, fit_sphere, probes, sample_rows
from tests.profiles import sized

from svddtune.client.portable.onnx_graph import sphere_graph

# Distances of the graph and of numpy differ by the rounding of sums: 5e-16 where measured.
ROUNDING = 1e-12


def run(graph: onnx.ModelProto, X: Any) -> tuple[Any, Any, Any]:
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, distance2, score = session.run(["label", "distance2", "score"], {"X": X})
    return label, distance2, score


@settings(deadline=None, max_examples=sized(100))
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    seed=st.integers(0, 10**6),
    M=st.integers(1, 7),
    nu=st.sampled_from([0.02, 0.1, 0.4, 0.9]),
)
def test_graph_has_the_decision_of_the_definition(shape: str, seed: int, M: int, nu: float) -> None:
    X = sample_rows(seed, M=M)
    sphere = fit_sphere(SHAPES[shape](X), X, nu=nu)
    tried = probes(X, seed)
    label, distance2, score = run(sphere_graph(sphere), tried)
    expected = sphere.decision(tried)
    np.testing.assert_allclose(-score, expected, atol=ROUNDING)
    np.testing.assert_array_equal(distance2 - sphere.threshold, score)
    clear = np.abs(expected) > ROUNDING
    np.testing.assert_array_equal(label[clear], np.where(expected >= 0, 1, -1)[clear])
    assert clear[: len(X)].all()


@settings(deadline=None, max_examples=sized(40))
@given(shape=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 10**6))
def test_graph_with_single_precision_decides_about_the_rows_as_it_holds_them(
    shape: str, seed: int
) -> None:
    X = sample_rows(seed)
    sphere = fit_sphere(SHAPES[shape](X), X)
    tried = probes(X, seed)
    tried = tried[(np.abs(tried) < 1e30).all(axis=1)].astype(np.float32)
    label, _, score = run(sphere_graph(sphere, input_type="float"), tried)
    expected = sphere.decision(tried.astype(np.float64))
    np.testing.assert_allclose(-score, expected, atol=ROUNDING)
    clear = np.abs(expected) > ROUNDING
    np.testing.assert_array_equal(label[clear], np.where(expected >= 0, 1, -1)[clear])


def test_single_precision_moves_scores_by_less_than_the_stated_band() -> None:
    """Min-max columns of the order of their offset: a rounded value moves by 2^-24 of itself."""
    model, X = fit(feature_names=()), np.vstack([rows(seed) for seed in range(20)])
    _, _, score = run(model.to_onnx(input_type="float"), X.astype(np.float32))
    band = 1e-6
    error = np.abs(-score - model.decision(X))
    assert error.max() < band
    clear = np.abs(model.decision(X)) > band
    np.testing.assert_array_equal((score <= 0)[clear], (model.decision(X) >= 0)[clear])


def test_row_with_nan_is_an_outlier_without_a_score() -> None:
    X = rows(5)
    X[3, 1] = np.nan
    label, distance2, score = run(fit().to_onnx(), X)
    assert label[3] == -1
    assert np.flatnonzero(np.isnan(score)).tolist() == [3]
    assert np.isnan(distance2[3])


def test_number_of_rows_is_free() -> None:
    graph = fit().to_onnx()
    for n in (0, 1, 5):
        label, _, score = run(graph, rows(5)[:n])
        assert label.shape == score.shape == (n,)


def test_file_says_what_the_model_is(tmp_path: Path) -> None:
    model = fit()
    path = model.save_onnx(tmp_path / "new" / "model.onnx")
    assert [one.name for one in path.parent.iterdir()] == ["model.onnx"]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    told = session.get_modelmeta().custom_metadata_map
    assert told["feature_names"] == '["f0", "f1", "f2"]'
    assert float(told["gamma"]) == model.gamma
    assert float(told["threshold"]) == model.threshold
    assert told["scaling"] == "minmax"
    assert [one.name for one in session.get_outputs()] == ["label", "distance2", "score"]
    np.testing.assert_array_equal(session.run(["label"], {"X": rows(5)})[0], model.predict(rows(5)))


@pytest.mark.parametrize("columns", [2, 4])
def test_rows_of_another_width_are_refused(columns: int) -> None:
    with pytest.raises(Exception, match="X"):
        run(fit().to_onnx(), np.zeros((2, columns)))
