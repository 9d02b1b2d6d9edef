"""The border between the labelled classes: a support vector machine on which both weigh alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn import config_context
from sklearn.svm import SVC

from svddtune.numerics.bandwidth import sklearn_scale_gamma
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.types import FloatArray, LabelArray


@dataclass(frozen=True, eq=False)
class Border:
    """A fitted machine.

    Attributes
    ----------
    machine : SVC
    gamma : float
        Of its kernel.
    """

    machine: SVC
    gamma: float

    @classmethod
    def fit(cls, features: FloatArray, labels: LabelArray) -> Border:
        """Fit to labels of both classes, shape (n,); standardised features of shape (n, F)."""
        gamma = sklearn_scale_gamma(features)
        machine = SVC(class_weight="balanced", gamma=gamma)
        # The checks of parameters and input take longer than a fit to few labels.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return cls(machine.fit(features, labels), gamma)

    def beyond(self, features: FloatArray) -> FloatArray:
        """How far rows are on the outliers' side of the border, in margins, shape (n,)."""
        kernel = squared_distances(features, np.asarray(self.machine.support_vectors_))
        kernel *= -self.gamma
        np.exp(kernel, out=kernel)
        return np.asarray(-(kernel @ self.machine.dual_coef_[0] + self.machine.intercept_[0]))
