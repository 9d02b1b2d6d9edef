"""A reader of model files by `docs/model-format.md`, with the standard library alone.

It follows the page sentence by sentence and uses nothing of the package. Rows and arrays are lists.
"""

import json
import math
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Numbers = list[float]
Matrix = list[list[float]]


def read_npy(data: bytes) -> Any:
    """An array as a list, or as a list of rows."""
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", data[8:10])
    header, body = data[10 : 10 + length].decode("latin-1"), data[10 + length :]
    kind = header.split("'descr': '")[1].split("'")[0]
    assert "'fortran_order': False" in header
    shape = [int(part) for part in header.split("(")[1].split(")")[0].split(",") if part.strip()]
    count = math.prod(shape)
    values: list[Any]
    if kind[:2] == "<U":
        width = 4 * int(kind[2:])
        values = [
            body[at : at + width].decode("utf-32-le").rstrip("\0")
            for at in range(0, count * width, width)
        ]
    else:
        values = list(struct.unpack(f"<{count}{ {'<f8': 'd', '<i4': 'i'}[kind] }", body))
    if len(shape) == 1:
        return values
    assert len(shape) == 2
    return [values[at : at + shape[1]] for at in range(0, count, shape[1])]


def sigmoid(f: float) -> float:
    return 1 / (1 + math.exp(-min(max(f, -40.0), 40.0)))


def squared_distance(a: Numbers, b: Numbers) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def gaussian(gamma: float, a: Numbers, b: Numbers) -> float:
    return math.exp(-min(gamma * squared_distance(a, b), 1e4))


def single(x: float) -> float:
    """A number rounded to single precision."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


@dataclass
class Representation:
    kind: str
    arrays: dict[str, Any]
    prefix: str = ""

    def apply(self, row: Numbers) -> Numbers:
        if self.kind == "none":
            return row
        arrays: dict[str, Any] = {
            name.removeprefix(self.prefix): array
            for name, array in self.arrays.items()
            if name.startswith(self.prefix)
        }
        mapped, first = [], 0
        for x, offset, scale, count in zip(
            row, arrays["offset"], arrays["scale"], arrays["knot_counts"], strict=True
        ):
            if count:
                part = slice(first, first + count)
                z = piecewise(x, arrays["knots"][part], arrays["values"][part])
            else:
                z = (x - offset) / scale
                if self.kind == "asinh":
                    z = math.asinh(z)
            first += count
            mapped.append(min(max(z, -1e100), 1e100))
        rotation = arrays.get("rotation")
        if rotation is None:
            return mapped
        return [
            sum(z * weights[column] for z, weights in zip(mapped, rotation, strict=True))
            for column in range(len(rotation[0]))
        ]


def piecewise(x: float, knots: Numbers, values: Numbers) -> float:
    j = 0
    while j < len(knots) - 2 and x > knots[j + 1]:
        j += 1
    slope = (values[j + 1] - values[j]) / (knots[j + 1] - knots[j])
    if x > knots[-1]:
        return values[-1] + (x - knots[-1]) * slope
    return values[j] + (x - knots[j]) * slope


def mean_of_trees(arrays: dict[str, Any], prefix: str, row: Numbers) -> float:
    feature, threshold, left, right, value, roots = (
        arrays[prefix + name]
        for name in ("feature", "threshold", "left", "right", "value", "roots")
    )
    rounded = [single(x) for x in row]
    total = 0.0
    for node in roots:
        while feature[node] >= 0:
            goes_left = rounded[feature[node]] <= threshold[node]
            node = left[node] if goes_left else right[node]
        total += value[node]
    return total / len(roots)


class Model:
    """A model file."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            self.arrays = {
                name.removesuffix(".npy"): read_npy(archive.read(name))
                for name in archive.namelist()
                if name.endswith(".npy")
            }
        assert (manifest["format"], manifest["version"]) == ("svddtune-model", 2)
        self.values = manifest["model"]
        self.representation = Representation(self.values["scaling"], self.arrays)

    @property
    def threshold(self) -> float:
        return float(self.values["R2"] + self.values["tolerance"])

    def distance2(self, row: Numbers) -> float:
        z = self.representation.apply(row)
        similarity = sum(
            alpha * gaussian(self.values["gamma"], vector, z)
            for alpha, vector in zip(
                self.arrays["alphas"], self.arrays["support_vectors"], strict=True
            )
        )
        return float(1 - 2 * similarity + self.values["center_norm2"])

    @property
    def has_refined(self) -> bool:
        return "refined.numbers" in self.arrays

    def features(self, row: Numbers) -> tuple[Numbers, int]:
        """Standardised features, and how many of them are columns."""
        arrays, kinds = self.arrays, self.arrays["refined.kinds"]
        columns = Representation(kinds[0], arrays, "refined.columns.").apply(row)
        standard = Representation(kinds[1], arrays, "refined.standard.").apply(row)
        novelty = [2.0 ** -mean_of_trees(arrays, "refined.isolation.", standard)]
        for index, kind in enumerate(kinds[2:]):
            prefix = f"refined.neighbors{index}."
            novelty += self.neighbors(Representation(kind, arrays, prefix).apply(row), prefix)
        features = [
            (x - center) / scale
            for x, center, scale in zip(
                columns + novelty, arrays["refined.center"], arrays["refined.scale"], strict=True
            )
        ]
        return features, len(columns)

    def neighbors(self, z: Numbers, prefix: str) -> Numbers:
        k, floor = self.arrays[prefix + "numbers"]
        limit = 2e-14 * sum(x * x for x in z)
        near = sorted(squared_distance(z, other) for other in self.arrays[prefix + "reference"])
        if near[0] <= limit:
            del near[0]
        near = [0.0 if d2 <= limit else d2 for d2 in near]
        return [math.log(max(math.sqrt(d2), floor)) for d2 in (near[0], near[int(k) - 1])]

    def refined_score(self, row: Numbers) -> float:
        features, D = self.features(row)
        (intercept, gamma, slope, weight, unusual_slope, unusual_center, *_) = self.arrays[
            "refined.numbers"
        ]
        *weights, constant = self.arrays["refined.linear"]
        trees = mean_of_trees(self.arrays, "refined.trees.", features)
        linear = sigmoid(sum(w * x for w, x in zip(weights, features, strict=True)) + constant)
        decision = intercept + sum(
            w * gaussian(gamma, vector, features[:D])
            for w, vector in zip(
                self.arrays["refined.kernel_weights"],
                self.arrays["refined.kernel_vectors"],
                strict=True,
            )
        )
        learned = (trees + linear + sigmoid(slope * decision)) / 3
        novelty = features[D:]
        unusual = sigmoid(unusual_slope * sum(novelty) / len(novelty))
        return float(min(max(learned + weight * (unusual - unusual_center), 0.0), 1.0))

    def probability(self, row: Numbers) -> float:
        slope, shift = self.arrays["refined.numbers"][6:8]
        score = min(max(self.refined_score(row), 1e-6), 1 - 1e-6)
        return sigmoid(slope * math.log(score / (1 - score)) + shift)
