"""The distances of a fitted SVDD, and the check that a model computes what it was fitted with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune.profile import Profile
from svddtune.refined import RefinedDetector
from svddtune.representation import Representation

Array = NDArray[np.float64]

# distance2 is a sum of exponentials with weights that add to 1, so its rounding error is absolute:
# some 1e-13 for a thousand columns. A wrong gamma, weight or vector shows far above this.
CHECK_TOLERANCE = 1e-9
# Rounding may lead a row to the other side of a split of one of some hundred trees.
CHECK_PROBABILITY_TOLERANCE = 0.02
# A model has eight; checking takes time.
MOST_CHECK_ROWS = 64
_BLOCK_VALUES = 1 << 18


class ModelDamaged(ValueError):
    """A model cannot be read, or does not compute the distances that it was saved with.

    ``reason`` is MODEL_CORRUPT, or MODEL_VERSION_UNSUPPORTED for a file of another format.
    """

    def __init__(self, message: str, *, reason: str = "MODEL_CORRUPT") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """Support vector data description with a Gaussian kernel.

    A row x, represented as the training data were, is an outlier where
    distance2(x) = 1 - 2 sum_i alpha_i k(x_i, x) + center_norm2 exceeds R2 + tolerance, with
    k(x, z) = exp(-gamma |x - z|^2).

    The fields are those of `docs/model-format.md` and of ``svddtune.client.SvddModel``, which adds
    to this what callers need: frames, files, other software.

    Raises
    ------
    ModelDamaged
        The parts do not fit together, or the check rows do not come out.
    """

    gamma: float
    C: float
    nu: float
    R2: float
    center_norm2: float
    tolerance: float
    representation: Representation
    support_vectors: Array
    alphas: Array
    feature_names: tuple[str, ...]
    check_rows: Array
    check_distance2: Array
    sklearn_nu: float
    observation_count: int
    dataset_hash: str = ""
    result: str = ""
    dataset_rows: tuple[int, ...] = field(default=())
    profile: Profile | None = None
    refined: RefinedDetector | None = None
    check_probability: Array | None = None

    def __post_init__(self) -> None:
        _verify(self)

    @property
    def feature_count(self) -> int:
        """M, the number of columns of raw rows."""
        return self.representation.columns_in

    @property
    def scaling(self) -> str:
        """Kind of the representation, for example "minmax"."""
        return self.representation.kind

    @property
    def threshold(self) -> float:
        """Largest distance2 of an inlier, R2 + tolerance."""
        return self.R2 + self.tolerance

    def distance2_of_represented(self, Z: Array) -> Array:
        """Squared distance of rows to the centre.

        Parameters
        ----------
        Z : array, shape (n, D)
            Rows as the kernel sees them.

        Returns
        -------
        array, shape (n,)
            In [0, 4].
        """
        out = np.empty(len(Z))
        # In blocks, so that memory stays bounded.
        for part, squared in self.squared_distances(Z):
            with np.errstate(over="ignore"):  # of rows so far away that the kernel is 0
                kernel = np.exp(np.multiply(squared, -self.gamma, out=squared), out=squared)
            out[part] = 1 - 2 * (kernel @ self.alphas) + self.center_norm2
        return out

    def squared_distances(self, Z: Array) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows with their squared distances to the support vectors.

        Parameters
        ----------
        Z : array, shape (n, D)
            Rows as the kernel sees them.

        Yields
        ------
        slice, array
            Rows of a block, and their distances, shape (block, s).
        """
        step = max(1, _BLOCK_VALUES // len(self.alphas))
        for start in range(0, len(Z), step):
            block = Z[start : start + step]
            # From differences, column by column: |x|^2 + |z|^2 - 2xz would lose the digits that
            # decide about rows on the boundary where features are large.
            squared = np.zeros((len(block), len(self.alphas)))
            for column in range(block.shape[1]):
                difference = np.subtract.outer(block[:, column], self.support_vectors[:, column])
                squared += np.square(difference, out=difference)
            yield slice(start, start + step), squared

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All of it as plain values and plain arrays, for storage elsewhere.

        Returns
        -------
        dict of str to value, dict of str to array
            As `docs/model-format.md` describes them: the manifest's "model", and the arrays.
        """
        values: dict[str, Any] = {name: getattr(self, name) for name in _FLOATS}
        for name in ("scaling", "dataset_hash", "result", "observation_count"):
            values[name] = getattr(self, name)
        values["feature_names"] = list(self.feature_names)
        values["dataset_rows"] = list(self.dataset_rows)
        arrays = {name: getattr(self, name) for name in _ARRAYS} | self.representation.to_arrays()
        if self.profile is not None:
            arrays |= self.profile.to_arrays()
        if self.refined is not None and self.check_probability is not None:
            arrays |= {_REFINED + name: array for name, array in self.refined.to_arrays().items()}
            arrays |= {"check_probability": self.check_probability}
        return values, arrays


_FLOATS = ("gamma", "C", "nu", "R2", "center_norm2", "tolerance", "sklearn_nu")
_ARRAYS = ("support_vectors", "alphas", "check_rows", "check_distance2")
# Names of the refined detector's arrays begin so.
_REFINED = "refined."


def fields_of_parts(
    values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    """Fields of a `FittedModel` from what `FittedModel.to_parts` gave.

    Raises
    ------
    KeyError, TypeError, ValueError, OverflowError, IndexError
        A part is missing, or the parts do not fit together.
    """
    fields: dict[str, Any] = {name: float(values[name]) for name in _FLOATS}
    fields |= {name: str(values[name]) for name in ("dataset_hash", "result")}
    fields |= {name: np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS}
    return fields | {
        "representation": Representation.from_arrays(str(values["scaling"]), arrays),
        "profile": Profile.from_arrays(arrays),
        **_refined_parts(arrays),
        "feature_names": tuple(str(name) for name in values["feature_names"]),
        "observation_count": int(values["observation_count"]),
        "dataset_rows": tuple(int(row) for row in values["dataset_rows"]),
    }


def _refined_parts(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The refined detector among arrays; nothing where there is none."""
    own = {
        name.removeprefix(_REFINED): array
        for name, array in arrays.items()
        if name.startswith(_REFINED)
    }
    if not own:
        return {}
    return {
        "refined": RefinedDetector.from_arrays(own),
        "check_probability": np.asarray(arrays["check_probability"], dtype=np.float64),
    }


def _verify(model: FittedModel) -> None:
    """Raise ModelDamaged unless shapes fit, values make sense and the check rows come out."""
    vectors, representation = model.support_vectors, model.representation
    columns = representation.columns_in
    parameters = (model.gamma, model.C, model.R2, model.center_norm2, model.tolerance)
    if vectors.ndim != 2 or 0 in vectors.shape:
        problem = f"support vectors of shape {vectors.shape}"
    elif model.alphas.shape != vectors.shape[:1]:
        problem = f"{vectors.shape[0]} support vectors with alphas of shape {model.alphas.shape}"
    elif vectors.shape[1] != representation.columns_out:
        problem = (
            f"support vectors with {vectors.shape[1]} columns for a representation with "
            f"{representation.columns_out}"
        )
    elif model.profile is not None and len(model.profile.columns) != columns:
        problem = f"a profile of {len(model.profile.columns)} columns for {columns} columns"
    elif model.feature_names and len(model.feature_names) != columns:
        problem = f"{len(model.feature_names)} feature names for {columns} columns"
    elif not np.isfinite(parameters).all() or not np.isfinite(vectors).all() or model.gamma <= 0:
        problem = "values that are not finite, or a gamma that is not positive"
    elif not abs(model.alphas.sum() - 1) < 1e-6:
        problem = f"alphas that sum to {model.alphas.sum():.9g} instead of 1"
    elif model.check_rows.shape != (len(model.check_distance2), columns):
        problem = f"check rows of shape {model.check_rows.shape}"
    elif not 1 <= len(model.check_distance2) <= MOST_CHECK_ROWS:
        problem = f"{len(model.check_distance2)} check rows instead of 1 to {MOST_CHECK_ROWS}"
    else:
        # (Damaged values overflow; what comes out of them is not what it was fitted with.)
        with np.errstate(all="ignore"):
            checked = model.distance2_of_represented(representation.apply(model.check_rows))
            error = np.abs(checked - model.check_distance2).max()
        if error <= CHECK_TOLERANCE:
            _verify_refined(model)
            return
        problem = f"distances that differ by {error:.3g} from those it was fitted with"
    raise ModelDamaged(f"The model has {problem}. Export it again from its session")


def _verify_refined(model: FittedModel) -> None:
    """Raise ModelDamaged unless a refined detector repeats its probabilities."""
    if model.refined is None:
        return
    known = model.check_probability
    if known is None or known.shape != model.check_distance2.shape:
        problem = "no probabilities for its check rows"
    elif model.refined.representation.columns_in != model.feature_count:
        columns = model.refined.representation.columns_in
        problem = f"{columns} columns instead of {model.feature_count}"
    else:
        error = np.abs(model.refined.probability(model.check_rows) - known).max()
        if error <= CHECK_PROBABILITY_TOLERANCE:
            return
        problem = f"probabilities that differ by {error:.3g} from those it was fitted with"
    raise ModelDamaged(f"The refined detector has {problem}. Export it again from its session")
