"""A refined detector as an ONNX graph with the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from svddtune.client.portable.onnx_parts import (
    Graph,
    InputType,
    Output,
    graph_model,
    represented,
    squared_distances,
)
from svddtune.refined import KernelMember, NeighborScore, RefinedDetector, Trees
from svddtune.refined.novelty import SAME2

if TYPE_CHECKING:
    import onnx


def refined_graph(
    detector: RefinedDetector,
    *,
    feature_names: Sequence[str] = (),
    input_type: InputType = "double",
) -> onnx.ModelProto:
    """Return the graph of a refined detector.

    Parameters
    ----------
    detector : RefinedDetector
        The fitted detector.
    feature_names : sequence of M str
        Of the columns; empty where they have none.
    input_type : {"double", "float"}
        As in `sphere_graph`.

    Returns
    -------
    onnx.ModelProto
        Input ``X``, shape (n, M): raw rows. Outputs, shape (n,): ``label``, int64, +1 for inliers
        and -1 for outliers; ``score``, double, 0.5 or more for outliers; ``probability``, double,
        of being an outlier.

    Raises
    ------
    ModuleNotFoundError
        onnx is not installed.

    Notes
    -----
    Scores are those of `RefinedDetector.score` up to rounding, 1e-12, unless a feature lies so
    close to the threshold of a tree that its rounding decides.
    """
    graph = Graph()
    raw, novelty = graph.doubles("X"), detector.novelty
    columns = represented(graph, raw, detector.representation)
    depth = _mean(graph, represented(graph, raw, novelty.standard), novelty.isolation)
    isolation = graph.add("Pow", graph.constant(2.0), graph.add("Neg", depth))
    scores = [_column(graph, isolation)]
    scores += [_neighbors(graph, raw, one) for one in novelty.neighbors]
    joined = graph.add("Concat", columns, *scores, axis=1)
    centred = graph.add("Sub", joined, graph.constant(detector.center))
    features = graph.add("Div", centred, graph.constant(detector.scale))

    D, F = detector.representation.columns_out, len(detector.center)
    linear = graph.add("MatMul", features, graph.constant(detector.linear.weights))
    linear = graph.add("Add", linear, graph.constant(detector.linear.intercept))
    total = graph.add(
        "Add",
        graph.add("Add", _mean(graph, features, detector.trees), _sigmoid(graph, linear)),
        _kernel(graph, _columns(graph, features, 0, D), detector.kernel),
    )
    learned = graph.add("Div", total, graph.constant(3.0))
    mean = graph.add("ReduceMean", _columns(graph, features, D, F), axes=[1], keepdims=0)
    steep = graph.add("Mul", mean, graph.constant(detector.unusual_slope))
    unusual = graph.add("Sub", _sigmoid(graph, steep), graph.constant(detector.unusual_center))
    weighed = graph.add("Mul", unusual, graph.constant(detector.unusual_weight))
    shifted = graph.add("Add", learned, weighed)
    capped = graph.add("Min", shifted, graph.constant(1.0))
    graph.add("Max", capped, graph.constant(0.0), name="score")
    outside = graph.add("GreaterOrEqual", "score", graph.constant(0.5))
    minus, one = graph.constant(np.int64(-1)), graph.constant(np.int64(1))
    graph.add("Where", outside, minus, one, name="label")
    _calibrated(graph, detector)
    return graph_model(
        graph,
        [
            Output("label", True, "+1 inlier, -1 outlier"),
            Output("score", False, "0.5 or more for outliers"),
            Output("probability", False, "of being an outlier"),
        ],
        columns=detector.representation.columns_in,
        input_type=input_type,
        title="Refined detector: classifiers of labels and of unusualness",
        told={"labels": str(detector.labels)},
        feature_names=feature_names,
    )


def _calibrated(graph: Graph, detector: RefinedDetector) -> None:
    """Add the output "probability" of the output "score"."""
    low, high = graph.constant(1e-6), graph.constant(1.0 - 1e-6)
    clipped = graph.add("Min", graph.add("Max", "score", low), high)
    rest = graph.add("Sub", graph.constant(1.0), clipped)
    logit = graph.add("Log", graph.add("Div", clipped, rest))
    steep = graph.add("Mul", logit, graph.constant(detector.slope))
    _sigmoid(graph, graph.add("Add", steep, graph.constant(detector.shift)), name="probability")


def _sigmoid(graph: Graph, value: str, name: str = "") -> str:
    """Add 1 / (1 + exp(-value)) with the value kept within 40 of 0."""
    one = graph.constant(1.0)
    capped = graph.add("Min", value, graph.constant(40.0))
    bounded = graph.add("Max", capped, graph.constant(-40.0))
    exponential = graph.add("Exp", graph.add("Neg", bounded))
    return graph.add("Div", one, graph.add("Add", one, exponential), name=name)


def _kernel(graph: Graph, rows: str, member: KernelMember) -> str:
    squared = squared_distances(graph, rows, member.vectors)
    kernel = graph.add("Exp", graph.add("Mul", squared, graph.constant(-member.gamma)))
    value = graph.add("MatMul", kernel, graph.constant(member.weights))
    decision = graph.add("Add", value, graph.constant(member.intercept))
    return _sigmoid(graph, graph.add("Mul", decision, graph.constant(member.slope)))


def _neighbors(graph: Graph, raw: str, score: NeighborScore) -> str:
    """Add the two logarithms of distances, shape (n, 2)."""
    rows = represented(graph, raw, score.representation)
    squared = squared_distances(graph, rows, score.reference)
    own2 = _column(graph, _squares(graph, rows))
    limit = graph.add("Mul", own2, graph.constant(2.0 * SAME2))
    none = graph.constant(0.0)
    squared = graph.add("Where", graph.add("LessOrEqual", squared, limit), none, squared)
    count = graph.constant(np.array([score.k + 1]))
    ranked = graph.add("TopK", squared, count, others=1, largest=0, axis=1)
    nearest = graph.add("Gather", ranked, graph.constant(np.array([0, score.k - 1])), axis=1)
    following = graph.add("Gather", ranked, graph.constant(np.array([1, score.k])), axis=1)
    first = graph.add("Gather", ranked, graph.constant(np.array([0])), axis=1)
    # A row at distance 0 from a reference row is that row.
    same = graph.add("Equal", first, none)
    distance = graph.add("Sqrt", graph.add("Where", same, following, nearest))
    return graph.add("Log", graph.add("Max", distance, graph.constant(score.floor)))


def _mean(graph: Graph, rows: str, trees: Trees) -> str:
    """Add the mean of the trees' leaves: all rows go down all trees at once, step by step."""
    from onnx import TensorProto, helper

    single = graph.doubles(graph.add("Cast", rows, to=TensorProto.FLOAT))
    count = graph.add("Shape", rows, start=0, end=1)
    shape = graph.add("Concat", count, graph.constant(np.array([len(trees.roots)])), axis=0)
    roots = graph.add("Expand", graph.constant(trees.roots.astype(np.int64)), shape)
    feature = graph.constant(np.maximum(trees.feature, 0).astype(np.int64))
    left, right = (graph.constant(one.astype(np.int64)) for one in (trees.left, trees.right))
    threshold = graph.constant(trees.threshold)

    body = Graph("step_")
    value = body.add("GatherElements", single, body.add("Gather", feature, "node"), axis=1)
    goes_left = body.add("LessOrEqual", value, body.add("Gather", threshold, "node"))
    below = (body.add("Gather", one, "node") for one in (left, right))
    body.add("Where", goes_left, *below, name="node_out")
    body.add("Identity", "condition", name="condition_out")
    kinds = {"step": TensorProto.INT64, "condition": TensorProto.BOOL}
    loop = helper.make_graph(
        body.nodes,
        "step",
        [
            *(helper.make_tensor_value_info(name, kind, []) for name, kind in kinds.items()),
            helper.make_tensor_value_info("node", TensorProto.INT64, None),
        ],
        [
            helper.make_tensor_value_info("condition_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("node_out", TensorProto.INT64, None),
        ],
        body.constants,
    )
    steps = graph.constant(np.int64(_depth(trees)))
    leaf = graph.add("Loop", steps, graph.constant(np.bool_(True)), roots, body=loop)
    values = graph.add("Gather", graph.constant(trees.value), leaf)
    return graph.add("ReduceMean", values, axes=[1], keepdims=0)


def _depth(trees: Trees) -> int:
    """Steps after which every row is in a leaf; children have greater numbers than parents."""
    depth = np.zeros(len(trees.feature), dtype=np.int64)
    for node in np.flatnonzero(trees.feature >= 0)[::-1].tolist():
        depth[node] = 1 + max(depth[trees.left[node]], depth[trees.right[node]])
    return int(depth[trees.roots].max())


def _squares(graph: Graph, rows: str) -> str:
    squares = graph.add("Mul", rows, rows)
    return graph.add("ReduceSum", squares, graph.constant(np.array([1])), keepdims=0)


def _column(graph: Graph, value: str) -> str:
    return graph.add("Unsqueeze", value, graph.constant(np.array([1])))


def _columns(graph: Graph, rows: str, first: int, end: int) -> str:
    bounds = (graph.constant(np.array([number])) for number in (first, end, 1))
    return graph.add("Slice", rows, *bounds)
