"""Every rule that proposes a gamma without labels, under one signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svddtune.numerics.bandwidth import scott_gamma, silverman_gamma, sklearn_scale_gamma
from svddtune.numerics.label_free.artificial import artificial_gamma
from svddtune.numerics.label_free.dfn import dfn_gamma
from svddtune.numerics.label_free.pairwise import (
    mean_gamma,
    modified_mean_gamma,
    variation_gamma,
)
from svddtune.numerics.label_free.qms import qms
from svddtune.numerics.label_free.support import (
    bound_gamma,
    mies_gamma,
    peak_gamma,
    resampled_support_gamma,
)
from svddtune.numerics.types import FloatArray

Rule = Callable[[FloatArray, np.random.Generator, float | None], float | None]


@dataclass(frozen=True, slots=True)
class Heuristic:
    """A rule for gamma that needs no labels.

    Attributes
    ----------
    source : str
        Its authors.
    summary : str
        What it does, in one sentence.
    uses_rng, uses_C : bool
        Whether the generator and C change the answer.
    seconds : float
        One core at N = 2000, M = 57, rounded up.
    rule : callable
        Takes X, the generator and C or None; prefer to call the heuristic itself.
    """

    source: str
    summary: str
    uses_rng: bool
    uses_C: bool
    seconds: float
    rule: Rule

    def __call__(
        self, X: FloatArray, *, rng: np.random.Generator, C: float | None = None
    ) -> float | None:
        """Propose a gamma.

        Parameters
        ----------
        X : FloatArray, shape (N, M)
        rng : np.random.Generator
            Draws sub-samples.
        C : float, optional
            In [1/N, 1]; sets the outlier share nu = 1/(N C) of rules that fit, 0.05 by default.

        Returns
        -------
        float or None
            None where the rule is undefined on these rows.
        """
        return self.rule(X, rng, C)


def _qms_gamma(X: FloatArray) -> float | None:
    found = qms(X)
    return None if found is None else found.gamma


HEURISTICS: dict[str, Heuristic] = {
    "scott": Heuristic(
        "Scott 2015", "Bandwidth N^(-1/(M+4)) times the mean attribute deviation.",
        False, False, 0.01, lambda X, rng, C: scott_gamma(X),
    ),
    "silverman": Heuristic(
        "Silverman 1986",
        "Bandwidth (N(M+2)/4)^(-1/(M+4)) times the mean attribute deviation.",
        False, False, 0.01, lambda X, rng, C: silverman_gamma(X),
    ),
    "sklearn_scale": Heuristic(
        "scikit-learn", "1 / (M times the variance of all entries).",
        False, False, 0.01, lambda X, rng, C: sklearn_scale_gamma(X),
    ),
    "mean": Heuristic(
        "Chaudhuri et al. 2017", "Mean squared distance over a logarithm of N.",
        False, False, 0.01, lambda X, rng, C: mean_gamma(X),
    ),
    "modified_mean": Heuristic(
        "Liao et al. 2018", "The mean criterion with a tolerance that depends on N.",
        False, False, 0.01, lambda X, rng, C: modified_mean_gamma(X),
    ),
    "kernel_variation": Heuristic(
        "Evangelista et al. 2007",
        "Largest standard deviation / mean of the off-diagonal kernel entries.",
        True, False, 0.2, lambda X, rng, C: variation_gamma(X, rng=rng),
    ),
    "kernel_dispersion": Heuristic(
        "Evangelista et al. 2007",
        "Largest variance / mean of the off-diagonal kernel entries.",
        True, False, 0.2, lambda X, rng, C: variation_gamma(X, rng=rng, ratio="dispersion"),
    ),
    "dfn": Heuristic(
        "Xiao et al. 2014",
        "Largest similarity to the nearest less that to the farthest neighbours.",
        False, False, 0.3, lambda X, rng, C: dfn_gamma(X),
    ),
    "qms": Heuristic(
        "Ghafoori et al. 2018",
        "Closed formula on the smallest and the mean distance of the densest row.",
        False, False, 0.3, lambda X, rng, C: _qms_gamma(X),
    ),
    "mies": Heuristic(
        "Xiao et al. 2014",
        "Interior rows far from the boundary, edge rows near it.",
        True, True, 0.2, lambda X, rng, C: mies_gamma(X, rng=rng, C=C),
    ),
    "peak": Heuristic(
        "Kakde et al. 2017",
        "First turn of the dual's optimal value from concave to convex.",
        True, True, 0.2, lambda X, rng, C: peak_gamma(X, rng=rng, C=C),
    ),
    "support_bound": Heuristic(
        "Gurram and Kwon 2011",
        "Smallest gamma with as few support vectors as C allows.",
        True, True, 0.2, lambda X, rng, C: bound_gamma(X, rng=rng, C=C),
    ),
    "resampled_support": Heuristic(
        "Banerjee et al. 2006",
        "Fewest support vectors on average over resamples.",
        True, True, 0.3, lambda X, rng, C: resampled_support_gamma(X, rng=rng, C=C),
    ),
    "artificial_outliers": Heuristic(
        "Tax and Duin 2001",
        "Least mean error with outliers drawn uniformly from a ball around the data.",
        True, True, 0.2, lambda X, rng, C: artificial_gamma(X, rng=rng, C=C),
    ),
}  # fmt: skip
"""Name -> rule."""
