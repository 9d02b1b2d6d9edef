"""What LAMA is compared with: other ways to choose gamma and C, arrays in, arrays out.

===================== ======================================================= ===============
Method                Chooses                                                 Home
===================== ======================================================= ===============
DFN-Fix, DFN-Sample   gamma by near and far neighbours; C fixed or on labels  `dfn`, `columns`
QMS                   both, by a change point and a closed formula            `qms`
ADS, ADS-ext          both, on pseudo rows                                    `shifting`, `ads`
upper bound           both, on the truth                                      `lattice`
label-free rules      gamma                                                   `HEURISTICS`
Tax's estimate        C                                                       `artificial`
===================== ======================================================= ===============

`table_columns` runs the paper's table on one dataset. Its columns follow the authors' code where
that departs from the papers it cites (``authors`` in the signatures); the defaults do not.
"""

from svddtune.numerics.baselines.ads import GRIDS, AdsGrid, ads, ads_choice, ads_lattice
from svddtune.numerics.baselines.artificial import artificial_gamma, ball_outliers, tax_c
from svddtune.numerics.baselines.bandwidth import (
    mean_gamma,
    modified_mean_gamma,
    variation_gamma,
)
from svddtune.numerics.baselines.columns import (
    SAMPLE_C,
    SAMPLE_LABELS,
    Columns,
    choose_c,
    fixed,
    random_labels,
    table_columns,
)
from svddtune.numerics.baselines.dfn import DFN_C, dfn_gamma
from svddtune.numerics.baselines.lattice import Choice, Lattice, best_on_labels, fit_lattice
from svddtune.numerics.baselines.qms import QmsParameters, qms
from svddtune.numerics.baselines.registry import HEURISTICS, Heuristic
from svddtune.numerics.baselines.shifting import Shifted, shift
from svddtune.numerics.baselines.support import (
    bound_gamma,
    mies_gamma,
    peak_gamma,
    resampled_support_gamma,
)

__all__ = [
    "DFN_C",
    "GRIDS",
    "HEURISTICS",
    "SAMPLE_C",
    "SAMPLE_LABELS",
    "AdsGrid",
    "Choice",
    "Columns",
    "Heuristic",
    "Lattice",
    "QmsParameters",
    "Shifted",
    "ads",
    "ads_choice",
    "ads_lattice",
    "artificial_gamma",
    "ball_outliers",
    "best_on_labels",
    "bound_gamma",
    "choose_c",
    "dfn_gamma",
    "fit_lattice",
    "fixed",
    "mean_gamma",
    "mies_gamma",
    "modified_mean_gamma",
    "peak_gamma",
    "qms",
    "random_labels",
    "resampled_support_gamma",
    "shift",
    "table_columns",
    "tax_c",
    "variation_gamma",
]
