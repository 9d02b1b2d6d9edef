"""The methods that the paper compares LAMA with or names. Arrays in, arrays out.

===================== ======================================================= ==================
Method                Chooses                                                 Module
===================== ======================================================= ==================
DFN-Fix, DFN-Sample   gamma by near and far neighbours; C fixed or on labels  `columns`
QMS                   both, by a change point and a closed formula            `columns`
ADS, ADS-ext          both, on pseudo rows                                    `shifting`, `ads`
upper bound           both, on the truth                                      `lattice`
rules without labels  gamma, and some C; nu = 0.05 otherwise                  `rules`
CV                    both, cross-validated on labels of both classes         `cross_validation`
===================== ======================================================= ==================

Of the related work, the tightness detection of Wang et al. (2013) and Xiao et al. (2014) is left
out: only abstracts were at hand, and these do not say when a boundary is tight.

`table_columns` runs the paper's table on one dataset. Its columns follow the authors' code where
that departs from the papers it cites (``authors`` in the signatures); the defaults do not. DFN's
gamma and QMS are also label-free rules of a session's result: `svddtune.numerics.label_free`.
"""

from svddtune.evaluation.baselines.ads import GRIDS, AdsGrid, ads, ads_choice, ads_lattice
from svddtune.evaluation.baselines.columns import (
    DFN_C,
    SAMPLE_C,
    SAMPLE_LABELS,
    Columns,
    fixed,
    random_labels,
    table_columns,
)
from svddtune.evaluation.baselines.cross_validation import labelled_choice
from svddtune.evaluation.baselines.lattice import Choice, Lattice, best_on_labels, fit_lattice
from svddtune.evaluation.baselines.rules import RULES, Rule
from svddtune.evaluation.baselines.shifting import Shifted, shift

__all__ = [
    "DFN_C",
    "GRIDS",
    "RULES",
    "SAMPLE_C",
    "SAMPLE_LABELS",
    "AdsGrid",
    "Choice",
    "Columns",
    "Lattice",
    "Rule",
    "Shifted",
    "ads",
    "ads_choice",
    "ads_lattice",
    "best_on_labels",
    "fit_lattice",
    "fixed",
    "labelled_choice",
    "random_labels",
    "shift",
    "table_columns",
]
