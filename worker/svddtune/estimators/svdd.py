"""Support vector data description with given parameters, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from svddtune import numerics
from svddtune.estimators.base import Hypersphere
from svddtune.estimators.rows import read_rows, seed_of
from svddtune.extensions import views_named
from svddtune.numerics import FloatArray
from svddtune.numerics.extent import check_magnitude
from svddtune.numerics.svdd import BOUNDARY_TOLERANCE

DEFAULT_NU = 0.1


class SVDD(Hypersphere):
    """Support vector data description: a row outside the hypersphere is an outlier.

    Parameters
    ----------
    gamma : "scale" or float
        Of the kernel exp(-gamma |x - z|^2), in inverse squared units of the scaled columns;
        positive. "scale" (default) is 1 / (M Var(X)) of the scaled rows.
    C : float, optional
        Upper bound of a row's weight, in [1/N, 1]: at 1 no row is outside, at 1/N every row is.
        Default: `nu` decides.
    nu : float, optional
        1 / (N C), in (0, 1]: a bound for the share of rows outside. An alternative to `C`, which
        does not depend on the number of rows. Default 0.1 where `C` is not given.
    scaling : str
        How the columns are mapped before the fit, and new rows likewise: "none", "minmax"
        (default), "robust", "standard", "asinh", "ranks", "normal", "whitened", or the name of
        another package's representation.
    random_state : int, RandomState or None
        Draws the rows that are fitted where there are more than 10,000. None (default) is 0.

    Attributes
    ----------
    gamma_, C_, nu_ : float
        The parameters of the fit.
    representation_ : Representation
        How columns are scaled; ``representation_.apply(X)`` does it.
    support_ : array (S,)
        Support vectors as rows of the training data, ascending.
    support_vectors_ : array (S, M)
        The support vectors, scaled.
    alphas_ : array (S,)
        Their weights, positive, in sum 1.
    R2_ : float
        Squared radius in feature space.
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``.
    n_features_in_ : int
        M.
    feature_names_in_ : array (M,) of str
        Names of the columns, where `fit` got a frame. Later frames are matched by them.

    Examples
    --------
    >>> import numpy as np
    >>> from svddtune import SVDD
    >>> X = np.r_[np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 9.0]]]
    >>> int(SVDD(nu=0.1).fit(X).predict([[9.0, 9.0]])[0])
    -1
    """

    def __init__(
        self,
        gamma: float | Literal["scale"] = "scale",
        C: float | None = None,
        *,
        nu: float | None = None,
        scaling: str = "minmax",
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.C = C
        self.nu = nu
        self.scaling = scaling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the description to all rows.

        Parameters
        ----------
        X : array-like or frame (N, M)
            Finite numbers up to 1e100.
        y : ignored
            Accepted as all estimators do.

        Returns
        -------
        SVDD
            This estimator.

        Raises
        ------
        ValueError
            A parameter is out of its range, or the rows are not as `X` says.
        """
        rows = read_rows(self, X, fitting=True)
        if self.scaling == numerics.AUTO:
            raise ValueError("scaling is 'auto', but only ActiveSVDD has labels to choose one by")
        views = views_named(rows, self.scaling)
        scaling, Z = views.representation(self.scaling), views.X
        check_magnitude(Z)
        if self.gamma == "scale":
            gamma = numerics.sklearn_scale_gamma(Z)
        else:
            gamma = _positive("gamma", self.gamma)
        C = self._cost(len(Z))
        return self.take(
            scaling, numerics.fit(Z, gamma=gamma, C=C, seed=seed_of(self.random_state))
        )

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape (n, M), that are checked already."""
        return -self._model.distance2(self.representation_.apply(rows))

    def take(
        self,
        scaling: numerics.Representation,
        model: numerics.SvddModel,
        *,
        like: BaseEstimator | None = None,
    ) -> Self:
        """Become the estimator that has fitted `model` to rows scaled by `scaling`.

        Parameters
        ----------
        scaling : Representation
            Of the rows.
        model : svddtune.numerics.SvddModel
            Fitted to the scaled rows.
        like : estimator, optional
            Fitted to the same rows; its columns become those of this one.

        Returns
        -------
        SVDD
            This estimator.
        """
        if like is not None:
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(like, name):
                    setattr(self, name, getattr(like, name))
        self.representation_, self._model = scaling, model
        self.gamma_, self.C_, self.nu_ = model.gamma, model.C, model.nu
        self.support_, self.support_vectors_ = model.rows, model.support
        self.alphas_, self.R2_ = model.alphas, model.R2
        # Every row is outside a degenerate model, the center included.
        self.offset_ = BOUNDARY_TOLERANCE * (1.0 if model.degenerate else -1.0) - model.R2
        return self

    def _cost(self, N: int) -> float:
        if self.C is not None and self.nu is not None:
            raise ValueError(f"C is {self.C} and nu is {self.nu}: give one of them")
        if self.C is None:
            nu = DEFAULT_NU if self.nu is None else _positive("nu", self.nu)
            return numerics.c_from_nu(nu, N)
        C = _positive("C", self.C)
        numerics.nu_from_c(C, N)
        return min(C, 1.0)


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool | str) or not np.isreal(value) or not 0.0 < value < np.inf:
        expected = " or 'scale'" if name == "gamma" else ""
        raise ValueError(f"{name} is {value!r}, expected a positive number{expected}")
    return float(value)
