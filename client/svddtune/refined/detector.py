"""The refined detector as a whole: features of a row, three classifiers, one probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.refined.members import KernelMember, LinearMember
from svddtune.refined.novelty import NeighborScore, Novelty
from svddtune.refined.trees import Trees
from svddtune.representation import Representation
from svddtune.sigmoid import sigmoid

Array = NDArray[np.float64]

_ROWS = 8192  # rows whose features are held at a time


@dataclass(frozen=True, eq=False)
class RefinedDetector:
    """Labels where they speak, unusualness elsewhere.

    A row's features are its columns in `representation` and the scores of `novelty`, all of them
    standardised. Extremely randomised trees and a logistic regression see all features, a support
    vector machine the columns alone. With p the mean of their probabilities and u the sigmoid of
    `unusual_slope` times the mean of the S scores, a row's *score* is

        p + unusual_weight (u - unusual_center), clipped to [0, 1];

    rows with 0.5 or more are outliers. So a row that is unlike all others needs less evidence of
    the labels: outliers may be of a kind that no label has. `slope` and `shift` turn the score into
    the *probability*.

    Attributes
    ----------
    representation : Representation
    novelty : Novelty
    center, scale : array, shape (D + S,)
        Standardise the features; a scale is positive.
    trees : Trees
        Leaves hold shares of outliers.
    linear : LinearMember
    kernel : KernelMember
        Of the first D features.
    unusual_weight, unusual_slope, unusual_center : float
        How the label-free scores count beside the classifiers; weight and slope not negative.
    slope, shift : float
        Probability = sigmoid(slope logit(score) + shift), slope positive.
    labels : int
        Labels that it was fitted on.
    """

    representation: Representation
    novelty: Novelty
    center: Array
    scale: Array
    trees: Trees
    linear: LinearMember
    kernel: KernelMember
    unusual_weight: float
    unusual_slope: float
    unusual_center: float
    slope: float
    shift: float
    labels: int

    def __post_init__(self) -> None:
        D, F = self.representation.columns_out, len(self.center)
        if not F == len(self.scale) == len(self.linear.weights) == D + self.novelty.count:
            raise ValueError(f"{F} features are described, expected {D} + {self.novelty.count}")
        if self.trees.columns > F or self.kernel.vectors.shape[1] != D:
            raise ValueError("trees or support vectors have other columns than the features")
        if not (self.scale > 0.0).all() or not self.slope > 0.0:
            raise ValueError("a scale or the slope is not positive")
        if not min(self.unusual_weight, self.unusual_slope) >= 0.0:
            raise ValueError("the weight or the slope of the label-free scores is negative")

    def features(self, raw: Array) -> Array:
        """Features of raw rows, shape (n, M), as shape (n, D + S)."""
        columns = (self.representation.apply(raw), self.novelty.apply(raw))
        return np.asarray((np.column_stack(columns) - self.center) / self.scale)

    def score(self, raw: Array) -> Array:
        """How much speaks for "outlier", shape (n,), in [0, 1]; outliers have 0.5 or more.

        Parameters
        ----------
        raw : array, shape (n, M)
            Rows in the units of the columns, finite.
        """
        out = np.empty(len(raw))
        for start in range(0, len(raw), _ROWS):
            part = slice(start, start + _ROWS)
            out[part] = self.score_features(self.features(raw[part]))
        return out

    def score_features(self, features: Array) -> Array:
        """`score` of rows whose features are at hand, shape (n, D + S)."""
        D = self.representation.columns_out
        learned = (
            self.trees.mean(features)
            + self.linear.probability(features)
            + self.kernel.probability(features[:, :D])
        ) / 3.0
        unusual = sigmoid(self.unusual_slope * features[:, D:].mean(axis=1))
        shifted = learned + self.unusual_weight * (unusual - self.unusual_center)
        return np.asarray(np.clip(shifted, 0.0, 1.0))

    def probability(self, raw: Array) -> Array:
        """Probability that each raw row is an outlier, shape (n,), in (0, 1)."""
        return self.calibrated(self.score(raw))

    def calibrated(self, score: Array) -> Array:
        """Probabilities of scores; a greater score has the greater probability."""
        clipped = np.clip(score, 1e-6, 1.0 - 1e-6)
        return sigmoid(self.slope * np.log(clipped / (1.0 - clipped)) + self.shift)

    def outside(self, raw: Array) -> NDArray[np.bool_]:
        """Whether each raw row is an outlier, shape (n,)."""
        return np.asarray(self.score(raw) >= 0.5)

    def predict(self, raw: Array) -> NDArray[np.int8]:
        """+1 (inlier) or -1 (outlier) for each raw row, shape (n,)."""
        return np.where(self.outside(raw), -1, 1).astype(np.int8)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as named plain arrays, for storage elsewhere."""
        arrays: dict[str, NDArray[Any]] = {
            "center": self.center,
            "scale": self.scale,
            "linear": np.append(self.linear.weights, self.linear.intercept),
            "kernel_vectors": self.kernel.vectors,
            "kernel_weights": self.kernel.weights,
            "numbers": np.array(
                [
                    self.kernel.intercept,
                    self.kernel.gamma,
                    self.kernel.slope,
                    self.unusual_weight,
                    self.unusual_slope,
                    self.unusual_center,
                    self.slope,
                    self.shift,
                    self.labels,
                    len(self.novelty.neighbors),
                ]
            ),
        }
        arrays |= _named("columns", self.representation.to_arrays())
        arrays |= _named("trees", self.trees.to_arrays())
        arrays |= _named("standard", self.novelty.standard.to_arrays())
        arrays |= _named("isolation", self.novelty.isolation.to_arrays())
        arrays["kinds"] = np.array(
            [self.representation.kind, self.novelty.standard.kind]
            + [one.representation.kind for one in self.novelty.neighbors]
        )
        for index, one in enumerate(self.novelty.neighbors):
            arrays |= _named(f"neighbors{index}", one.representation.to_arrays())
            arrays[f"neighbors{index}.reference"] = one.reference
            arrays[f"neighbors{index}.numbers"] = np.array([one.k, one.floor])
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> RefinedDetector:
        """Inverse of `to_arrays`. Raises KeyError or ValueError where the arrays are damaged."""
        intercept, gamma, kernel_slope, *unusual, slope, shift, labels, count = arrays[
            "numbers"
        ].tolist()
        weight, unusual_slope, unusual_center = unusual
        kinds = [str(kind) for kind in arrays["kinds"]]
        linear = np.asarray(arrays["linear"], dtype=np.float64)
        neighbors = []
        for index, kind in enumerate(kinds[2 : 2 + int(count)]):
            k, floor = arrays[f"neighbors{index}.numbers"].tolist()
            neighbors.append(
                NeighborScore(
                    Representation.from_arrays(kind, _part(f"neighbors{index}", arrays)),
                    np.asarray(arrays[f"neighbors{index}.reference"], dtype=np.float64),
                    int(k),
                    float(floor),
                )
            )
        return cls(
            representation=Representation.from_arrays(kinds[0], _part("columns", arrays)),
            novelty=Novelty(
                Representation.from_arrays(kinds[1], _part("standard", arrays)),
                Trees.from_arrays(_part("isolation", arrays)),
                tuple(neighbors),
            ),
            center=np.asarray(arrays["center"], dtype=np.float64),
            scale=np.asarray(arrays["scale"], dtype=np.float64),
            trees=Trees.from_arrays(_part("trees", arrays)),
            linear=LinearMember(linear[:-1], float(linear[-1])),
            kernel=KernelMember(
                np.asarray(arrays["kernel_vectors"], dtype=np.float64),
                np.asarray(arrays["kernel_weights"], dtype=np.float64),
                float(intercept),
                float(gamma),
                float(kernel_slope),
            ),
            unusual_weight=float(weight),
            unusual_slope=float(unusual_slope),
            unusual_center=float(unusual_center),
            slope=float(slope),
            shift=float(shift),
            labels=int(labels),
        )


def _named(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{name}.{key}": array for key, array in arrays.items()}


def _part(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)
    }
