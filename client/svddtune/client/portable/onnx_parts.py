"""Parts of ONNX graphs, which compute in doubles as numpy does here.

Distances are taken from differences, column by column: rows on the boundary differ by less than
single precision can tell, and an expanded square loses digits where columns are far from 0. Scan
keeps the memory at rows times vectors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from svddtune.representation import Representation

if TYPE_CHECKING:
    import onnx

InputType = Literal["double", "float"]

OPSET = 17
"""Version of the operators; every runtime since 2022 has them."""

_IR_VERSION = 8  # of the file format, as old as the operators
_PRODUCER = "svddtune"
_FAR = 1e8  # x^2 + 1 is x^2 in doubles
_LOG_2 = float(np.log(2.0))


@dataclass(frozen=True)
class Output:
    """An output of a graph: one number a row."""

    name: str
    whole: bool
    meaning: str


@dataclass
class Graph:
    """Nodes and constants of a graph in the making; its names begin with `prefix`."""

    prefix: str = ""
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(
        self, operator: str, *inputs: str, name: str = "", others: int = 0, **attributes: Any
    ) -> str:
        """Add a node; return the name of its first output. The `others` are not used."""
        from onnx import helper

        name = name or f"{self.prefix}{operator.lower()}_{len(self.nodes)}"
        outputs = [name, *(f"{name}_{number}" for number in range(others))]
        self.nodes.append(helper.make_node(operator, list(inputs), outputs, name, **attributes))
        return name

    def constant(self, value: float | NDArray[Any] | np.generic) -> str:
        """Add a constant, doubles unless it is an array of another type; return its name."""
        from onnx import numpy_helper

        name = f"{self.prefix}constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def doubles(self, name: str) -> str:
        """Add a cast to doubles; return its name."""
        from onnx import TensorProto

        return self.add("Cast", name, to=TensorProto.DOUBLE)

    def scan(
        self,
        body: Graph,
        states: Sequence[str],
        columns: Sequence[str],
        inputs: Sequence[Any],
        output: Any,
    ) -> str:
        """Add a loop over the first axis of `columns`; return the name of its one output."""
        from onnx import helper

        loop = helper.make_graph(body.nodes, "column", list(inputs), [output], body.constants)
        return self.add("Scan", *states, *columns, body=loop, num_scan_inputs=len(columns))


def represented(graph: Graph, rows: str, representation: Representation) -> str:
    """Add what `Representation.apply` does; return the name of the result."""
    if representation.kind == "none":
        return rows
    mapped = np.array([len(knots) > 0 for knots in representation.knots])
    if not mapped.all():
        # Columns with knots pass unchanged: their offset is 0, their scale 1.
        offset = graph.constant(np.where(mapped, 0.0, representation.offset))
        scale = graph.constant(np.where(mapped, 1.0, representation.scale))
        rows = graph.add("Div", graph.add("Sub", rows, offset), scale)
    if representation.kind == "asinh":
        rows = _asinh(graph, rows)
    if mapped.any():
        rows = _column_maps(graph, rows, representation)
    if representation.rotation is not None:
        rows = graph.add("MatMul", rows, graph.constant(representation.rotation))
    return rows


def _asinh(graph: Graph, rows: str) -> str:
    """Add the inverse hyperbolic sine, sign(x) log(|x| + sqrt(x^2 + 1)).

    Runtimes have the operator Asinh for single precision only. Far from 0, where the square would
    overflow, the root is |x|.
    """
    one, far = graph.constant(1.0), graph.constant(_FAR)
    size = graph.add("Abs", rows)
    near = graph.add("Min", size, far)
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", near, near), one))
    small = graph.add("Log", graph.add("Add", near, root))
    large = graph.add("Add", graph.add("Log", graph.add("Max", size, one)), graph.constant(_LOG_2))
    result = graph.add("Where", graph.add("Greater", size, far), large, small)
    return graph.add("Mul", graph.add("Sign", rows), result)


def _column_maps(graph: Graph, rows: str, representation: Representation) -> str:
    """Add the piecewise-linear maps: the number of inner knots up to a value tells its piece."""
    from onnx import TensorProto, helper

    M = len(representation.knots)
    longest = max(max(map(len, representation.knots)) - 1, 2)
    # Of each piece the begin, the value there and the slope; a column without knots is one piece
    # that changes nothing. No value reaches the knots that fill the rows up.
    inner = np.full((M, longest - 1), np.inf)
    begin, value, slope = np.zeros((M, longest)), np.zeros((M, longest)), np.ones((M, longest))
    for column, (knots, values) in enumerate(
        zip(representation.knots, representation.values, strict=True)
    ):
        pieces = len(knots) - 1
        if pieces < 1:
            continue
        inner[column, : pieces - 1] = knots[1:-1]
        begin[column, :pieces], value[column, :pieces] = knots[:-1], values[:-1]
        slope[column, :pieces] = np.diff(values) / np.diff(knots)

    body = Graph("map_")
    axis = body.constant(np.array([1]))
    reached = body.add("GreaterOrEqual", body.add("Unsqueeze", "x", axis), "inner")
    piece = body.add("ReduceSum", body.add("Cast", reached, to=TensorProto.INT64), axis, keepdims=0)
    beyond = body.add("Sub", "x", body.add("Gather", "begin", piece))
    rise = body.add("Mul", beyond, body.add("Gather", "slope", piece))
    body.add("Add", body.add("Gather", "value", piece), rise, name="mapped")
    double = TensorProto.DOUBLE
    columns = graph.scan(
        body,
        [],
        [
            graph.add("Transpose", rows),
            *(graph.constant(array) for array in (inner, begin, value, slope)),
        ],
        [
            helper.make_tensor_value_info("x", double, ["n"]),
            helper.make_tensor_value_info("inner", double, [longest - 1]),
            *(
                helper.make_tensor_value_info(name, double, [longest])
                for name in ("begin", "value", "slope")
            ),
        ],
        helper.make_tensor_value_info("mapped", double, ["n"]),
    )
    return graph.add("Transpose", columns)


def squared_distances(graph: Graph, rows: str, vectors: NDArray[np.float64]) -> str:
    """Add |z - z_i|^2 of every row and support vector, shape (n, s)."""
    from onnx import TensorProto, helper

    count = graph.add("Shape", rows, start=0, end=1)
    shape = graph.add("Concat", count, graph.constant(np.array([len(vectors)])), axis=0)
    zeros = graph.add("Expand", graph.constant(0.0), shape)

    body = Graph("distance_")
    column = body.add("Unsqueeze", "z", body.constant(np.array([1])))
    difference = body.add("Sub", column, "vectors")
    body.add("Add", "sum", body.add("Mul", difference, difference), name="sum_out")
    double, s = TensorProto.DOUBLE, len(vectors)
    return graph.scan(
        body,
        [zeros],
        [graph.add("Transpose", rows), graph.constant(np.ascontiguousarray(vectors.T))],
        [
            helper.make_tensor_value_info("sum", double, ["n", s]),
            helper.make_tensor_value_info("z", double, ["n"]),
            helper.make_tensor_value_info("vectors", double, [s]),
        ],
        helper.make_tensor_value_info("sum_out", double, ["n", s]),
    )


def graph_model(
    graph: Graph,
    outputs: Sequence[Output],
    *,
    columns: int,
    input_type: InputType,
    title: str,
    told: Mapping[str, str],
    feature_names: Sequence[str],
) -> onnx.ModelProto:
    """Return the model of a graph whose input is ``X``, shape (n, columns), checked."""
    from onnx import TensorProto, checker, helper

    kinds = {"double": TensorProto.DOUBLE, "float": TensorProto.FLOAT}
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "svddtune",
            [helper.make_tensor_value_info("X", kinds[input_type], ["n", columns], "raw rows")],
            [
                helper.make_tensor_value_info(
                    one.name,
                    TensorProto.INT64 if one.whole else TensorProto.DOUBLE,
                    ["n"],
                    one.meaning,
                )
                for one in outputs
            ],
            graph.constants,
        ),
        producer_name=_PRODUCER,
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
        doc_string=title,
    )
    helper.set_model_props(model, {**told, "feature_names": json.dumps(list(feature_names))})
    checker.check_model(model, full_check=True)
    return model
