"""Label-free rules for gamma, evaluated once a dataset: part of its atlas."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune import numerics
from svddtune.numerics import FloatArray

# scikit-learn's OneClassSVM default, which the rules are compared at.
DEFAULT_NU = 0.5

# Names that differ from those of numerics.HEURISTICS: this one is a setting people know.
NAMES = {"sklearn_scale": "sklearn_default"}


@dataclass(frozen=True, slots=True)
class Rules:
    """What each rule proposes, and what that says of the rows at nu = 0.5.

    Rules that are undefined on the data are left out.
    """

    names: tuple[str, ...]
    # (rules,)
    gamma: FloatArray
    # (rules, ceil(N / 8)), as in Atlas.
    packed: NDArray[np.uint8]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All fields as plain arrays."""
        return {
            "names": np.array(self.names, dtype="<U32"),
            "gamma": self.gamma,
            "packed": self.packed,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Rules":
        """Inverse of ``to_arrays``."""
        return cls(
            names=tuple(arrays["names"].tolist()), gamma=arrays["gamma"], packed=arrays["packed"]
        )


def evaluate_rules(X: FloatArray) -> Rules:
    """Run all rules on the data, and fit each at nu = 0.5."""
    c = numerics.c_from_nu(DEFAULT_NU, len(X))
    names, gammas, packed = [], [], []
    for name, rule in numerics.HEURISTICS.items():
        gamma = rule(X, rng=np.random.default_rng(0))
        if gamma is None or not 0.0 < gamma < np.inf:
            continue
        outside = numerics.fit_cells(X, gamma=gamma, C=np.array([c])).outside
        names.append(NAMES.get(name, name))
        gammas.append(gamma)
        packed.append(np.packbits(outside, axis=1))
    return Rules(tuple(names), np.array(gammas), np.concatenate(packed))
