"""A fitted SVDD model that needs numpy only: decide about new rows, save, load, verify."""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from svddtune import kappa
from svddtune.client.errors import InvalidInput, ModelCorrupt
from svddtune.client.extras import needs_extra, needs_package
from svddtune.client.inputs.frames import match_features
from svddtune.client.portable.onnx_graph import sphere_graph
from svddtune.client.portable.onnx_parts import InputType
from svddtune.client.portable.pipeline import sphere_pipeline
from svddtune.client.portable.refined_graph import refined_graph
from svddtune.client.types import FloatArray, LabelArray, Unusual, Which
from svddtune.client.whole_file import whole_file
from svddtune.profile import Profile, most_unusual
from svddtune.refined import RefinedDetector
from svddtune.representation import Representation

if TYPE_CHECKING:
    import onnx
    from sklearn.pipeline import Pipeline

FORMAT = "svddtune-model"
FORMAT_VERSION = 2
# Version 1 knew offset and scale of the columns only.
_READ_VERSIONS = (1, 2)
# distance2 is a sum of exponentials with weights that add to 1, so its rounding error is absolute:
# some 1e-13 for a thousand columns. A wrong gamma, weight or vector shows far above this.
CHECK_TOLERANCE = 1e-9
# Rounding may lead a row to the other side of a split of one of some hundred trees.
CHECK_PROBABILITY_TOLERANCE = 0.02
_BELOW_HALF = np.nextafter(0.5, 0.0)
_BLOCK_VALUES = 1 << 18
# What damaged archives and arrays raise, the wrong offsets and flags of their headers included.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    ValueError,
    OSError,
    RuntimeError,  # NotImplementedError included
)
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class SvddModel:
    """Support vector data description with a Gaussian kernel.

    A row x, represented as the training data were, is an outlier where
    distance2(x) = 1 - 2 sum_i alpha_i k(x_i, x) + center_norm2 exceeds R2 + tolerance, with
    k(x, z) = exp(-gamma |x - z|^2).

    Attributes
    ----------
    representation : Representation
        How raw rows become what the kernel sees.
    support_vectors : array (s, D)
        Rows as the kernel sees them.
    alphas : array (s,)
        Weights, positive, in sum 1.
    check_rows, check_distance2 : arrays (c, M), (c,)
        Raw rows with the distance2 that the fit gave them; verified whenever a model is made.
    sklearn_nu : float
        nu of the scikit-learn OneClassSVM that decides alike.
    profile : Profile or None
        What the rows of the dataset were like; None in files that were written without it.
    refined : RefinedDetector or None
        The refined detector, made from the labels beside the SVDD; None where a class had no label,
        where gamma and C were chosen without an atlas, and in files that were written without it.
    check_probability : array (c,) or None
        What `refined` gave for the check rows.
    """

    gamma: float
    C: float
    nu: float
    R2: float
    center_norm2: float
    tolerance: float
    representation: Representation
    support_vectors: FloatArray
    alphas: FloatArray
    feature_names: tuple[str, ...]
    check_rows: FloatArray
    check_distance2: FloatArray
    sklearn_nu: float
    observation_count: int
    dataset_hash: str = ""
    result: str = ""
    dataset_rows: tuple[int, ...] = field(default=())
    profile: Profile | None = None
    refined: RefinedDetector | None = None
    check_probability: FloatArray | None = None

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

    def rows(self, X: Any) -> FloatArray:
        """Return raw rows as doubles, shape (n, M), with the columns in the model's order.

        Parameters
        ----------
        X : array-like or frame (n, M)
            As in `scaled`.

        Raises
        ------
        InvalidInput
            As `scaled`.
        """
        return match_features(X, self.feature_names, self.feature_count)

    def scaled(self, X: Any) -> FloatArray:
        """Return raw rows, shape (n, M), as the kernel sees them, shape (n, D).

        Parameters
        ----------
        X : array-like or frame (n, M)
            An array is taken by position, a frame by the names of its columns, in any order. All
            methods that take rows do so.

        Raises
        ------
        InvalidInput
            FEATURE_NAMES_MISMATCH or FEATURE_COUNT_MISMATCH where the columns are not the model's;
            DATASET_NOT_FINITE and others where the values are no finite numbers.
        """
        return self.representation.apply(self.rows(X))

    def distance2(self, X: Any) -> FloatArray:
        """Return the squared distance of each raw row to the centre, shape (n,), in [0, 4].

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows.

        Raises
        ------
        InvalidInput
            As `scaled`.
        """
        return self._distance2(self.scaled(X))

    def decision(self, X: Any, *, which: Which = "svdd") -> FloatArray:
        """Return how far inside each raw row is, shape (n,): not negative for inliers.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows.
        which : {"svdd", "refined"}
            The tuned SVDD: R2 + tolerance - distance2. The refined detector: 0.5 less its score.

        Raises
        ------
        InvalidInput
            As `scaled`; REFINED_MISSING where the model has no refined detector.
        ValueError
            `which` is neither of the two.
        """
        if which == "refined":
            refined = self.known_refined()
            # An inlier's score is below 0.5.
            return np.asarray(_BELOW_HALF - refined.score(self.rows(X)))
        if which != "svdd":
            raise ValueError(f"which is {which!r}, expected 'svdd' or 'refined'")
        return self.threshold - self.distance2(X)

    def predict(self, X: Any, *, which: Which = "svdd") -> LabelArray:
        """Return +1 (inlier) or -1 (outlier) for each raw row, shape (n,).

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows.
        which : {"svdd", "refined"}
            The tuned SVDD, or the refined detector.

        Raises
        ------
        InvalidInput
            As `decision`.
        ValueError
            As `decision`.
        """
        return np.where(self.decision(X, which=which) >= 0, 1, -1).astype(np.int8)

    def probability(self, X: Any) -> FloatArray:
        """Return the refined detector's probability that each raw row is an outlier, shape (n,).

        It is calibrated. The verdict of `predict` follows the detector's own score, whose limit
        lies at a probability below one half.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows.

        Raises
        ------
        InvalidInput
            As `decision` with "refined".
        """
        return self.known_refined().probability(self.rows(X))

    def known_refined(self) -> RefinedDetector:
        """Return the refined detector.

        Raises
        ------
        InvalidInput
            REFINED_MISSING where the model has none.
        """
        if self.refined is None:
            raise InvalidInput(
                "The model has no refined detector. It takes labels of both classes, a strategy "
                "with an atlas (the default), and a model file of this release; use the tuned "
                "SVDD instead",
                reason="REFINED_MISSING",
            )
        return self.refined

    def unusual(self, X: Any, count: int = 3) -> list[tuple[Unusual, ...]]:
        """Return for each raw row the features that differ most from those of the dataset.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows.
        count : int
            Features of each row, at least 1; at most M are returned.

        Returns
        -------
        list of n tuples of Unusual
            The most unusual first.

        Raises
        ------
        InvalidInput
            As `scaled`; PROFILE_MISSING where the model was written without a profile.
        """
        rows = self.rows(X)
        profile = self.known_profile()
        deviation = profile.deviations(rows)
        columns = most_unusual(deviation, count)
        names = self.feature_names or tuple(map(str, range(self.feature_count)))
        return [
            tuple(
                Unusual(
                    name=names[j],
                    column=j,
                    value=float(rows[i, j]),
                    typical=float(profile.center[j]),
                    deviation=float(deviation[i, j]),
                )
                for j in columns[i].tolist()
            )
            for i in range(len(rows))
        ]

    def known_profile(self) -> Profile:
        """Return the profile.

        Raises
        ------
        InvalidInput
            PROFILE_MISSING where the model was written without one.
        """
        if self.profile is None:
            raise InvalidInput(
                "The model does not say what its dataset was like, because an earlier release "
                "wrote it. Export it again from a session of this release",
                reason="PROFILE_MISSING",
            )
        return self.profile

    def gap2(self, X: Any) -> FloatArray:
        """Return the squared distance of each raw row to its nearest support vector, shape (n,).

        Distances are those that the kernel sees.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Raw rows.

        Raises
        ------
        InvalidInput
            As `scaled`.
        """
        Z = self.scaled(X)
        out = np.empty(len(Z))
        for part, squared in self._squared_distances(Z):
            out[part] = squared.min(axis=1)
        return out

    def to_sklearn(self) -> Pipeline:
        """Return a fitted scikit-learn Pipeline with the same decision on every row.

        It needs scikit-learn only, so it can be pickled and loaded without svddtune. Its
        ``predict``, ``decision_function`` and ``feature_names_in_`` are this model's; frames must
        have their columns in the model's order.

        Raises
        ------
        NotInstalled
            scikit-learn is not installed.
        """
        with needs_package("scikit-learn", "A scikit-learn pipeline"):
            return sphere_pipeline(self)

    def to_onnx(
        self, *, which: Which = "svdd", input_type: InputType = "double"
    ) -> onnx.ModelProto:
        """Return an ONNX graph with the same decision on every row.

        Parameters
        ----------
        which : {"svdd", "refined"}
            The detector.
        input_type : {"double", "float"}
            Of the elements of the input; the graph computes in doubles. With "float" it decides
            about the rows as single precision holds them.

        Returns
        -------
        onnx.ModelProto
            Input ``X``, shape (n, M), raw rows in the order of `feature_names`; outputs, shape
            (n,): ``label`` (+1 inlier, -1 outlier); of the SVDD ``distance2`` and ``score``
            (distance2 - `threshold`, positive for outliers); of the refined detector ``score`` (0.5
            or more for outliers) and ``probability``.

        Raises
        ------
        NotInstalled
            The extra onnx is not installed.
        InvalidInput
            REFINED_MISSING where the model has no refined detector.
        """
        with needs_extra("onnx", "An ONNX model"):
            if which == "svdd":
                return sphere_graph(self, input_type=input_type)
            return refined_graph(
                self.known_refined(), feature_names=self.feature_names, input_type=input_type
            )

    def save_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        which: Which = "svdd",
        input_type: InputType = "double",
    ) -> Path:
        """Write the graph of `to_onnx` to a file, whole or not at all; return its path.

        Parameters
        ----------
        path : path
            The file; folders that are missing are made.
        which : {"svdd", "refined"}
            As in `to_onnx`.
        input_type : {"double", "float"}
            As in `to_onnx`.

        Raises
        ------
        NotInstalled, InvalidInput
            As `to_onnx`.
        OSError
            It cannot be written.
        """
        content = self.to_onnx(which=which, input_type=input_type).SerializeToString()
        with whole_file(path) as file:
            file.write(content)
        return Path(path)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write one .npz file, arrays and a manifest.json, whole or not at all; return its path.

        Parameters
        ----------
        path : path
            The file; folders that are missing are made.

        Raises
        ------
        OSError
            It cannot be written.
        """
        with whole_file(path) as file, zipfile.ZipFile(file, "w") as archive:
            manifest = json.dumps(self._manifest(), indent=1, sort_keys=True)
            archive.writestr(zipfile.ZipInfo("manifest.json", _EPOCH), manifest)
            for name, array in self._arrays().items():
                member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
                with archive.open(member, "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, array, allow_pickle=False)
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SvddModel:
        """Read a model file, verify it and return the model.

        Parameters
        ----------
        path : path
            What `save` or ``svddtune export`` wrote.

        Raises
        ------
        ModelCorrupt
            MODEL_CORRUPT: it is no model file, or it computes other distances than those it was
            saved with; MODEL_VERSION_UNSUPPORTED: it is of another format version.
        OSError
            It cannot be read.
        """
        with Path(path).open("rb") as file:
            try:
                with zipfile.ZipFile(file) as archive:
                    manifest = json.loads(archive.read("manifest.json"))
                    _check_format(manifest, path)
                    arrays = _read_arrays(archive)
                    values = manifest["model"]
                    if manifest["version"] == 1:
                        arrays |= _affine_arrays(arrays)
            except ModelCorrupt:
                raise
            except _UNREADABLE as error:
                raise ModelCorrupt(f"{path} is not a readable svddtune model: {error}") from None
        return cls.from_parts(values, arrays)

    @classmethod
    def from_parts(cls, values: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> SvddModel:
        """Return the model of a manifest's values and arrays.

        Parameters
        ----------
        values : mapping
            The manifest's "model".
        arrays : mapping of str to array
            The file's arrays, by name.

        Raises
        ------
        ModelCorrupt
            MODEL_CORRUPT: a part is missing, or the parts do not fit together.
        """
        try:
            parts: dict[str, Any] = {name: float(values[name]) for name in _FLOATS}
            parts |= {name: str(values[name]) for name in ("dataset_hash", "result")}
            parts |= {name: np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS}
            return cls(
                representation=Representation.from_arrays(str(values["scaling"]), arrays),
                profile=Profile.from_arrays(arrays),
                **_refined_parts(arrays),
                feature_names=tuple(str(name) for name in values["feature_names"]),
                observation_count=int(values["observation_count"]),
                dataset_rows=tuple(int(row) for row in values["dataset_rows"]),
                **parts,
            )
        except ModelCorrupt:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ModelCorrupt(f"The model lacks a part: {error}") from None

    def _arrays(self) -> dict[str, NDArray[Any]]:
        own = {name: getattr(self, name) for name in _ARRAYS}
        about = {} if self.profile is None else self.profile.to_arrays()
        if self.refined is not None and self.check_probability is not None:
            about |= {_REFINED + name: array for name, array in self.refined.to_arrays().items()}
            about |= {"check_probability": self.check_probability}
        return own | self.representation.to_arrays() | about

    def _manifest(self) -> dict[str, Any]:
        values: dict[str, Any] = {name: getattr(self, name) for name in _FLOATS}
        for name in ("scaling", "dataset_hash", "result", "observation_count"):
            values[name] = getattr(self, name)
        values["feature_names"] = list(self.feature_names)
        values["dataset_rows"] = list(self.dataset_rows)
        return {"format": FORMAT, "version": FORMAT_VERSION, "model": values}

    def _distance2(self, Z: FloatArray) -> FloatArray:
        """Distances of rows as the kernel sees them, in blocks so that memory stays bounded."""
        out = np.empty(len(Z))
        for part, squared in self._squared_distances(Z):
            with np.errstate(over="ignore"):  # of rows so far away that the kernel is 0
                kernel = np.exp(np.multiply(squared, -self.gamma, out=squared), out=squared)
            out[part] = 1 - 2 * (kernel @ self.alphas) + self.center_norm2
        return out

    def _squared_distances(self, Z: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of rows with their squared distances to the support vectors."""
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


_FLOATS = ("gamma", "C", "nu", "R2", "center_norm2", "tolerance", "sklearn_nu")
# Names of the refined detector's arrays begin so.
_REFINED = "refined."
_ARRAYS = ("support_vectors", "alphas", "check_rows", "check_distance2")


def _refined_parts(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The refined detector of a file; nothing where it has none."""
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


def _check_format(manifest: Any, path: str | os.PathLike[str]) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelCorrupt(f"{path} is a ZIP file, but not an svddtune model")
    if manifest.get("version") not in _READ_VERSIONS:
        raise ModelCorrupt(
            f"{path} has format version {manifest.get('version')!r}; this release reads "
            f"{' and '.join(map(str, _READ_VERSIONS))}. Export the model again, or update svddtune",
            reason="MODEL_VERSION_UNSUPPORTED",
        )


def _read_arrays(archive: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    arrays = {}
    for member in archive.namelist():
        if member.endswith(".npy"):
            with archive.open(member) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
            arrays[member.removesuffix(".npy")] = np.asarray(array)
    return arrays


def _affine_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The parts of a representation from a file of version 1; "none" has no offset and scale."""
    columns = arrays["check_rows"].shape[1]
    nothing = np.empty(0)
    return {
        "offset": arrays["offset"] if arrays["offset"].size else np.zeros(columns),
        "scale": arrays["scale"] if arrays["scale"].size else np.ones(columns),
        "knot_counts": np.zeros(columns, dtype=np.int32),
        "knots": nothing,
        "values": nothing,
    }


def _verify(model: SvddModel) -> None:
    """Raise ModelCorrupt unless shapes fit, values make sense and the check rows come out."""
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
    elif len(model.check_distance2) == 0:
        problem = "no check rows"
    else:
        error = np.abs(model.distance2(model.check_rows) - model.check_distance2).max()
        if error <= CHECK_TOLERANCE:
            _verify_refined(model)
            return
        problem = f"distances that differ by {error:.3g} from those it was fitted with"
    raise ModelCorrupt(f"The model has {problem}. Export it again from its session")


def _verify_refined(model: SvddModel) -> None:
    """Raise ModelCorrupt unless a refined detector repeats its probabilities."""
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
    raise ModelCorrupt(f"The refined detector has {problem}. Export it again from its session")


def cohen_kappa(truth: Any, predicted: Any) -> float:
    """Score a classification by Cohen's kappa, as the service does.

    Parameters
    ----------
    truth, predicted : array, shape (n,)
        +1 for an inlier, -1 for an outlier.

    Returns
    -------
    float
        In [-1, 1]: 1 is perfect agreement, 0 is what chance gives. 0 where kappa is 0/0, which is
        where both call every row the same.
    """
    first, second = np.asarray(truth) > 0, np.asarray(predicted) > 0
    counts = (
        (first & second).sum(),
        (first & ~second).sum(),
        (~first & second).sum(),
        (~first & ~second).sum(),
    )
    return float(kappa.cohen_kappa(*counts, undefined=0.0))
