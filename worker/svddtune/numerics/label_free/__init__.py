"""Rules that propose gamma from the rows alone: no label is needed.

========================================================= ============================
Rules                                                     Module
========================================================= ============================
mean, modified mean, kernel variation and dispersion      `pairwise`
DFN (near and far neighbours)                             `dfn`
QMS (change point of neighbourhood distances), also C     `qms`
MIES, peak, support bound, resampled support              `support`
artificial outliers                                       `artificial`
all of these under one signature, by name                 `registry`
========================================================= ============================

Scott's and Silverman's rules and scikit-learn's scale are in `numerics.bandwidth`, which the
preparation of a dataset uses too. `curves` and `edges` hold what several rules share.
"""

from svddtune.numerics.label_free.artificial import artificial_gamma, ball_outliers
from svddtune.numerics.label_free.dfn import dfn_gamma
from svddtune.numerics.label_free.pairwise import (
    mean_gamma,
    modified_mean_gamma,
    variation_gamma,
)
from svddtune.numerics.label_free.qms import QmsParameters, qms
from svddtune.numerics.label_free.registry import HEURISTICS, Heuristic
from svddtune.numerics.label_free.support import (
    bound_gamma,
    mies_gamma,
    peak_gamma,
    resampled_support_gamma,
)

__all__ = [
    "HEURISTICS",
    "Heuristic",
    "QmsParameters",
    "artificial_gamma",
    "ball_outliers",
    "bound_gamma",
    "dfn_gamma",
    "mean_gamma",
    "mies_gamma",
    "modified_mean_gamma",
    "peak_gamma",
    "qms",
    "resampled_support_gamma",
    "variation_gamma",
]
