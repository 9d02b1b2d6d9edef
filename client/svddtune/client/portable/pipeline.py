"""A fitted SVDD as a fitted scikit-learn Pipeline with the same decisions.

Only public attributes are set, and no function of this project is inside, so that the pipeline can
be pickled, and loaded where only scikit-learn is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.portable.sphere import Sphere
from svddtune.client.types import FloatArray
from svddtune.representation import Representation

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

_IDENTITY = np.array([0.0, 1.0])


def sphere_pipeline(sphere: Sphere) -> Pipeline:
    """Return a fitted pipeline whose ``decision_function`` is threshold - distance2.

    Parameters
    ----------
    sphere : Sphere
        The fitted model.

    Returns
    -------
    sklearn.pipeline.Pipeline
        It takes raw rows; ``feature_names_in_`` is set if the model has names.

    Raises
    ------
    ModuleNotFoundError
        scikit-learn is not installed.
    """
    from sklearn.gaussian_process.kernels import RBF
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.pipeline import Pipeline

    # Distances do not change when rows and support vectors move together. About their middle the
    # kernel loses no digits, however far from 0 the columns are.
    middle = sphere.support_vectors.mean(axis=0)
    steps: list[tuple[str, Any]] = [
        ("doubles", _doubles(len(sphere.representation.offset), sphere.feature_names)),
        *_representation_steps(sphere.representation),
        ("middle", _affine(middle, None)),
    ]
    # This kernel computes distances from differences; kernel="rbf" expands the square, which loses
    # the digits that decide about extreme rows.
    kernel = Nystroem(kernel=RBF(length_scale=float(np.sqrt(0.5 / sphere.gamma))))
    kernel.components_ = sphere.support_vectors - middle
    kernel.component_indices_ = np.arange(len(sphere.alphas))
    kernel.normalization_ = sphere.alphas[np.newaxis, :]
    kernel.n_features_in_ = sphere.support_vectors.shape[1]
    decision = SGDOneClassSVM()
    decision.coef_ = np.array([2.0])
    decision.offset_ = np.array([1.0 + sphere.center_norm2 - sphere.threshold])
    decision.n_features_in_ = 1
    return Pipeline([*steps, ("kernel", kernel), ("decision", decision)])


def _representation_steps(representation: Representation) -> list[tuple[str, Any]]:
    """Fitted transformers that together do what `Representation.apply` does."""
    if representation.kind == "none":
        return []
    mapped = np.array([len(knots) > 0 for knots in representation.knots])
    steps: list[tuple[str, Any]] = []
    if not mapped.all():
        # Columns with knots pass unchanged: their offset is 0, their scale 1.
        offset = np.where(mapped, 0.0, representation.offset)
        scale = np.where(mapped, 1.0, representation.scale)
        steps.append(("scale", _affine(offset, scale)))
    if representation.kind == "asinh":
        steps.append(("asinh", _function(np.arcsinh, len(mapped))))
    if mapped.any():
        steps.append(("maps", _column_maps(representation)))
    if representation.rotation is not None:
        steps.append(("rotation", _linear(representation.rotation)))
    return steps


def _column_maps(representation: Representation) -> Any:
    """One piecewise-linear map, a spline of degree 1, a column; those without knots pass unchanged.

    With "continue" a spline's first and last piece go on beyond its ends.
    """
    from scipy.interpolate import BSpline
    from sklearn.preprocessing import SplineTransformer

    step = SplineTransformer(n_knots=2, degree=1, extrapolation="continue")
    step.bsplines_ = []
    for own_knots, own_values in zip(representation.knots, representation.values, strict=True):
        knots, values = (own_knots, own_values) if len(own_knots) else (_IDENTITY, _IDENTITY)
        ends = np.concatenate([knots[:1], knots, knots[-1:]])
        step.bsplines_.append(BSpline(ends, values[:, np.newaxis], 1))
    step.n_features_in_ = step.n_features_out_ = len(representation.knots)
    return step


def _doubles(count: int, names: tuple[str, ...]) -> Any:
    """Check rows and turn them into doubles, as whole numbers and single precision are not."""
    step = _function(np.asarray, count, dtype="float64")
    if names:
        step.feature_names_in_ = np.array(names, dtype=object)
    return step


def _function(function: Any, count: int, **arguments: Any) -> Any:
    """A function of numpy, applied to `count` columns."""
    from sklearn.preprocessing import FunctionTransformer

    step = FunctionTransformer(
        function, kw_args=arguments, validate=True, feature_names_out="one-to-one"
    )
    step.n_features_in_ = count
    return step


def _affine(offset: FloatArray, scale: FloatArray | None) -> Any:
    from sklearn.preprocessing import StandardScaler

    step = StandardScaler(with_std=scale is not None)
    step.mean_ = offset
    step.scale_ = scale
    step.var_ = None if scale is None else np.square(scale)
    step.n_features_in_ = len(offset)
    return step


def _linear(matrix: FloatArray) -> Any:
    from sklearn.decomposition import TruncatedSVD

    step = TruncatedSVD(n_components=matrix.shape[1])
    step.components_ = np.ascontiguousarray(matrix.T)
    step.n_features_in_ = len(matrix)
    return step
