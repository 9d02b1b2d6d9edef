"""A fitted SVDD model that needs numpy only: decide about new rows, save, load, verify."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune import kappa
from svddtune.client.errors import InvalidInput, ModelCorrupt
from svddtune.client.extras import needs_extra, needs_package
from svddtune.client.inputs.frames import match_features
from svddtune.client.portable.onnx_graph import sphere_graph
from svddtune.client.portable.onnx_parts import InputType
from svddtune.client.portable.pipeline import sphere_pipeline
from svddtune.client.portable.refined_graph import refined_graph
from svddtune.client.shown import Shown
from svddtune.client.types import FloatArray, LabelArray, Unusual, Which
from svddtune.client.whole_file import whole_file
from svddtune.fitted import FittedModel, ModelDamaged, read_file, write_file
from svddtune.profile import Profile, most_unusual
from svddtune.refined import RefinedDetector

if TYPE_CHECKING:
    import onnx
    from sklearn.pipeline import Pipeline

_BELOW_HALF = np.nextafter(0.5, 0.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SvddModel(Shown, FittedModel):
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

    Raises
    ------
    ModelCorrupt
        MODEL_CORRUPT: the parts do not fit together, or the check rows do not come out.
    """

    def __post_init__(self) -> None:
        with _damage_told():
            # (A class with slots is made twice, so super() would not find it.)
            FittedModel.__post_init__(self)

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
        return self.distance2_of_represented(self.scaled(X))

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
        for part, squared in self.squared_distances(Z):
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
        with whole_file(path) as file:
            write_file(self, file)
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
        with Path(path).open("rb") as file, _damage_told():
            return cls(**read_file(file, str(path)))


@contextmanager
def _damage_told() -> Iterator[None]:
    """Turn a damaged model into the client's error."""
    try:
        yield
    except ModelDamaged as error:
        raise ModelCorrupt(error.message, reason=error.reason) from None


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
