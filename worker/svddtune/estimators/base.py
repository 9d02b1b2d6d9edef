"""What both estimators do with rows once they are fitted."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from svddtune.estimators.rows import read_rows
from svddtune.numerics import FloatArray


class Hypersphere(OutlierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An outlier detector whose boundary is a hypersphere in feature space.

    Attributes
    ----------
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``.
    """

    offset_: float

    @abstractmethod
    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Score rows, shape (n, M), that are checked already."""

    def score_samples(self, X: Any) -> FloatArray:
        """Return minus the squared distance of each row to the center, in feature space.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Rows in the units of the training data.

        Returns
        -------
        array (n,)
            In [-4, 0]; the lower, the more unusual.

        Raises
        ------
        ValueError
            The rows are no finite numbers, or have other columns than those of the fit.
        NotFittedError
            `fit` was not called.
        """
        return self.score_rows(self._new_rows(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Return how far inside the boundary each row is: negative for outliers.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Rows in the units of the training data.

        Returns
        -------
        array (n,)
            Difference of squared radius and squared distance, with a tolerance of 1e-5.

        Raises
        ------
        ValueError, NotFittedError
            As `score_samples`.
        """
        scores = self.score_samples(X)
        return scores - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for an inlier and -1 for an outlier.

        Parameters
        ----------
        X : array-like or frame (n, M)
            Rows in the units of the training data.

        Returns
        -------
        array (n,) of int

        Raises
        ------
        ValueError, NotFittedError
            As `score_samples`.
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def _new_rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return read_rows(self, X, fitting=False)
