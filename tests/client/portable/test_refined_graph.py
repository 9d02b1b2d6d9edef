from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.models import fit, fit_refined_too, rows
from tests.profiles import sized

from svddtune.client import InvalidInput
from svddtune.client.portable.onnx_parts import Graph, Output, graph_model
from svddtune.client.portable.refined_graph import _depth, _mean, refined_graph
from svddtune.client.types import FloatArray
from svddtune.numerics import Views
from svddtune.numerics.refined import fit_refined, refined_basis
from svddtune.refined import RefinedDetector, Trees


def run(graph: Any, X: Any) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def draw(seed: int, n: int = 150) -> FloatArray:
    """A plain column, one of whole numbers, a narrow and a constant one."""
    rng = np.random.default_rng(seed)
    X: FloatArray = rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 0.0]
    X[:, 1] = np.round(X[:, 1])
    X[: n // 10, 0] += 4
    return X


def detector(seed: int) -> RefinedDetector:
    X = draw(seed)
    y = np.zeros(len(X), dtype=np.int8)
    y[:8], y[-20:] = -1, 1
    found = fit_refined(refined_basis(Views(X)), X, y)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("input_type", "dtype"), [("double", np.float64), ("float", np.float32)])
def test_graph_has_the_scores_of_the_detector(seed: int, input_type: Any, dtype: type) -> None:
    refined = detector(seed)
    X: Any = np.vstack([draw(seed), draw(50), draw(51, 500) * 3, draw(seed) * 1e6]).astype(dtype)
    found = run(refined_graph(refined, input_type=input_type), X)
    raw = X.astype(np.float64)
    # The rounding of a distance may move a row to the other side of a tree's threshold.
    close = np.abs(found["score"] - refined.score(raw)) < 1e-9
    assert close.mean() > 0.995
    np.testing.assert_array_equal(found["label"][close], refined.predict(raw)[close])
    np.testing.assert_allclose(
        found["probability"][close], refined.probability(raw)[close], atol=1e-7
    )


def test_model_has_a_graph_of_each_detector() -> None:
    model, X = fit_refined_too(), rows(5)
    for which in ("svdd", "refined"):
        label = run(model.to_onnx(which=which), X)["label"]
        np.testing.assert_array_equal(label, model.predict(X, which=which))


def test_model_without_a_refined_detector_has_no_graph_of_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        fit().to_onnx(which="refined")
    assert refused.value.reason == "REFINED_MISSING"


def chain(depth: int, seed: int) -> Trees:
    """Two trees: one goes down to the right in `depth` steps, the other one is a single leaf."""
    rng = np.random.default_rng(seed)
    inner, n = 2 * np.arange(depth), 2 * depth + 2
    feature, threshold = np.full(n, -1, dtype=np.int32), np.zeros(n)
    left, right = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    feature[inner] = rng.integers(3, size=depth)
    threshold[inner] = rng.normal(size=depth)
    left[inner], right[inner] = inner + 1, inner + 2
    roots = np.array([0, n - 1], dtype=np.int32)
    return Trees(feature, threshold, left, right, rng.normal(size=n), roots)


@settings(deadline=None, max_examples=sized(40))
@given(depth=st.integers(0, 12), seed=st.integers(0, 10**6))
def test_every_row_reaches_its_leaf(depth: int, seed: int) -> None:
    trees, graph = chain(depth, seed), Graph()
    assert _depth(trees) == depth
    graph.add("Identity", _mean(graph, graph.doubles("X"), trees), name="mean")
    model = graph_model(
        graph,
        [Output("mean", False, "mean of the leaves")],
        columns=3,
        input_type="double",
        title="trees",
        told={},
        feature_names=(),
    )
    X = np.random.default_rng(seed).normal(size=(50, 3))
    np.testing.assert_allclose(run(model, X)["mean"], trees.mean(X), atol=1e-12)
