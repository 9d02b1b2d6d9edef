"""Label-free rules for gamma, with which a result is compared. Only the result waits for them."""

from collections.abc import Iterable, Mapping

import numpy as np

from svddtune import numerics
from svddtune.numerics import FloatArray, IndexArray
from svddtune.v1 import jobs_pb2

# scikit-learn's OneClassSVM default, which the rules are compared at.
DEFAULT_NU = 0.5
# Some rules look at all pairs of rows. Above this number of rows they and their fits use a uniform
# sample of this size. Their predictions cover all rows.
RULE_ROWS = 4096

RULES = tuple(numerics.HEURISTICS)


def rule_sample(N: int, *, limit: int = RULE_ROWS) -> IndexArray | None:
    """Rows that the rules look at, ascending, the same for every caller; None for all."""
    if limit >= N:
        return None
    return np.sort(np.random.default_rng(0).choice(N, limit, replace=False))


def evaluate_rule(X: FloatArray, name: str, *, limit: int = RULE_ROWS) -> jobs_pb2.FitOutput:
    """Return the gamma that a rule proposes, and the predictions of its fit at nu = 0.5.

    The output has no cell if the rule is undefined on the data.
    """
    sample = rule_sample(len(X), limit=limit)
    seen = X if sample is None else X[sample]
    gamma = numerics.HEURISTICS[name](seen, rng=np.random.default_rng(0))
    output = jobs_pb2.FitOutput()
    if gamma is None or not 0.0 < gamma < np.inf:
        return output
    C = numerics.c_from_nu(DEFAULT_NU, len(seen))
    if sample is None:
        fits = numerics.fit_cells(X, gamma=gamma, C=np.array([C]))
        model, outside = fits.models[0], fits.outside[0]
    else:
        model = numerics.fit(seen, gamma=gamma, C=C)
        outside = model.outside(X)
    output.cells.add(
        gamma=gamma,
        c=numerics.c_from_nu(DEFAULT_NU, len(X)),
        r2=model.R2,
        degenerate=model.degenerate,
        support_vector_count=len(model.rows),
        outside_count=int(outside.sum()),
        outside=np.packbits(outside).tobytes(),
    )
    return output


def missing_rules(stored: Mapping[str, jobs_pb2.FitOutput]) -> Iterable[str]:
    """Rules that are still to be evaluated, in their order."""
    return (name for name in RULES if name not in stored)
