"""Rules without labels as methods: gamma and C, and the SVDD that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from svddtune.evaluation.baselines.columns import fixed
from svddtune.evaluation.baselines.counter_examples import (
    counter_example_gamma,
    skewed_outlier_gamma,
)
from svddtune.evaluation.baselines.cross_validation import one_class_choice
from svddtune.evaluation.baselines.enclosing import (
    edged_support_gamma,
    enclosing_gamma,
    extent_gamma,
)
from svddtune.evaluation.baselines.lattice import Choice
from svddtune.numerics.label_free import HEURISTICS, Heuristic
from svddtune.numerics.label_free.curves import OUTLIER_SHARE
from svddtune.numerics.svdd import c_from_nu
from svddtune.numerics.types import FloatArray

Choose = Callable[[FloatArray, np.random.Generator], Choice | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule without labels.

    Attributes
    ----------
    title, about : str
        For people; `about` names the source.
    choose : callable
        From rows and a generator to the choice; None where the rule is undefined.
    """

    title: str
    about: str
    choose: Choose


def _with_usual_share(rule: Heuristic, X: FloatArray, rng: np.random.Generator) -> Choice | None:
    gamma = rule(X, rng=rng)
    return None if gamma is None else fixed(X, gamma=gamma, C=c_from_nu(OUTLIER_SHARE, len(X)))


def _extent(X: FloatArray, *, rng: np.random.Generator) -> float | None:
    return extent_gamma(X)


def _one_class(X: FloatArray, rng: np.random.Generator) -> Choice | None:
    found = one_class_choice(X, rng=rng)
    return None if found is None else fixed(X, gamma=found.gamma, C=c_from_nu(found.nu, len(X)))


_ABOUT = {
    "scott": ("Scott", "Scott's rule, scaled by the mean deviation."),
    "silverman": ("Silverman", "Silverman's rule, likewise."),
    "sklearn_default": ("scikit-learn", 'gamma="scale".'),
    "mean": ("Mean", "Chaudhuri et al. 2017: mean criterion."),
    "modified_mean": ("Modified mean", "Liao et al. 2018: the same with a delta for N."),
    "kernel_variation": (
        "Kernel variation", "Evangelista et al. 2007: deviation over mean of the kernel entries.",
    ),
    "kernel_dispersion": ("Kernel dispersion", "The same with the variance over the mean."),
    "dfn": ("DFN, squared", "Xiao et al. 2014, with the kernel that the SVDD uses."),
    "mies": ("MIES", "Xiao et al. 2015: largest distances of interior and edge rows."),
    "peak": ("Peak", "Kakde et al. 2017: inflection of the optimal value."),
    "support_bound": ("Support bound", "Gurram and Kwon 2011: fewest support vectors."),
    "resampled_support": (
        "Resampled support", "Banerjee et al. 2006: fewest support vectors over resamples.",
    ),
    "artificial_outliers": (
        "Uniform outliers", "Tax and Duin 2001: artificial outliers uniform in a ball.",
    ),
}  # fmt: skip
"""Titles of the product's rules; its QMS is a column of the paper's table."""

_FURTHER: dict[str, tuple[str, str, Heuristic]] = {
    "extent": ("Khazai", "Khazai et al. 2011: from the largest distance and nu.", _extent),
    "enclosing": (
        "ADES", "Anaissi et al. 2017: mean distances of interior and edge rows.", enclosing_gamma,
    ),
    "edged_support": (
        "ESV", "Anaissi et al. 2018: support vectors on the edge of the data.",
        edged_support_gamma,
    ),
    "counter_examples": (
        "Counter-examples", "Bánhalmi et al. 2007: rows moved out through the edge.",
        counter_example_gamma,
    ),
    "skewed_outliers": (
        "Skewed outliers", "Deng and Xu 2007: artificial outliers by the skewness of columns.",
        skewed_outlier_gamma,
    ),
}  # fmt: skip

RULES: dict[str, Rule] = {
    **{
        name: Rule(title, about, partial(_with_usual_share, HEURISTICS[name]))
        for name, (title, about) in _ABOUT.items()
    },
    **{
        name: Rule(title, about, partial(_with_usual_share, rule))
        for name, (title, about, rule) in _FURTHER.items()
    },
    "one_class": Rule(
        "One-class CV",
        "Theissler and Dear 2013: cross-validation on one class; chooses nu too.",
        _one_class,
    ),
}
"""Name -> rule. Rules for gamma are fitted with nu = `OUTLIER_SHARE`, Tax's C = 1/(N nu)."""
