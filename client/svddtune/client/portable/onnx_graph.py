"""A fitted SVDD as an ONNX graph with the same decisions."""

from __future__ import annotations

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
from svddtune.client.portable.sphere import Sphere

if TYPE_CHECKING:
    import onnx


def sphere_graph(sphere: Sphere, *, input_type: InputType = "double") -> onnx.ModelProto:
    """Return the graph of a fitted SVDD.

    Parameters
    ----------
    sphere : Sphere
        The fitted model.
    input_type : {"double", "float"}
        Of the elements of the input. Computation is in doubles in both cases; with "float" the
        decision is that about the rows as single precision holds them.

    Returns
    -------
    onnx.ModelProto
        Input ``X``, shape (n, M): raw rows. Outputs, shape (n,): ``label``, int64, +1 for inliers
        and -1 for outliers; ``distance2``, double; ``score``, double, distance2 - threshold, which
        is positive for outliers. A row with NaN has the label -1 and the score NaN.

    Raises
    ------
    ModuleNotFoundError
        onnx is not installed.
    """
    graph = Graph()
    rows = represented(graph, graph.doubles("X"), sphere.representation)
    squared = squared_distances(graph, rows, sphere.support_vectors)
    kernel = graph.add("Exp", graph.add("Mul", squared, graph.constant(-sphere.gamma)))
    similarity = graph.add("MatMul", kernel, graph.constant(sphere.alphas))
    twice = graph.add("Mul", similarity, graph.constant(2.0))
    rest = graph.add("Sub", graph.constant(1.0), twice)
    graph.add("Add", rest, graph.constant(sphere.center_norm2), name="distance2")
    threshold = graph.constant(sphere.threshold)
    graph.add("Sub", "distance2", threshold, name="score")
    inside = graph.add("LessOrEqual", "distance2", threshold)
    one, minus = graph.constant(np.int64(1)), graph.constant(np.int64(-1))
    graph.add("Where", inside, one, minus, name="label")
    return graph_model(
        graph,
        [
            Output("label", True, "+1 inlier, -1 outlier"),
            Output("distance2", False, "squared distance to the centre"),
            Output("score", False, "distance2 - threshold, positive for outliers"),
        ],
        columns=sphere.representation.columns_in,
        input_type=input_type,
        title="Support vector data description with a Gaussian kernel",
        told={
            "gamma": repr(sphere.gamma),
            "threshold": repr(sphere.threshold),
            "scaling": sphere.representation.kind,
        },
        feature_names=sphere.feature_names,
    )
