"""Label-free rules for gamma, with which a result is compared. Only the result waits for them."""

from collections.abc import Iterable, Mapping

import numpy as np

from svddtune import numerics
from svddtune.jobs.v1 import jobs_pb2
from svddtune.numerics import (
    SAMPLED_ABOVE,
    IndexArray,
    LabelArray,
    Rows,
    SvddModel,
    as_labels,
    complete,
    panel_rows,
)

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


def evaluate_rule(X: Rows, name: str, *, limit: int = RULE_ROWS) -> jobs_pb2.FitOutput:
    """Return the gamma that a rule proposes, and the predictions of its fit at nu = 0.5.

    The output has no cell if the rule is undefined on the data. Above ``SAMPLED_ABOVE`` rows it has
    what predictions are made of instead.
    """
    sample = rule_sample(len(X), limit=limit)
    seen = complete(X) if sample is None else X[sample]
    gamma = numerics.HEURISTICS[name](seen, rng=np.random.default_rng(0))
    output = jobs_pb2.FitOutput()
    if gamma is None or not 0.0 < gamma < np.inf:
        return output
    C = numerics.c_from_nu(DEFAULT_NU, len(seen))
    if sample is None:
        fits = numerics.fit_cells(seen, gamma=gamma, C=np.array([C]))
        model, outside = fits.models[0], fits.outside[0]
    else:
        model = numerics.fit(seen, gamma=gamma, C=C)
        outside = model.outside(X if len(X) <= SAMPLED_ABOVE else X[panel_rows(len(X))])
    cell = output.cells.add(
        gamma=gamma,
        c=numerics.c_from_nu(DEFAULT_NU, len(X)),
        r2=model.R2,
        degenerate=model.degenerate,
        support_vector_count=len(model.rows),
        outside_count=round(float(outside.mean()) * len(X)),
    )
    if len(outside) == len(X):
        cell.outside = np.packbits(outside).tobytes()
    else:
        alphas = np.zeros(len(seen))
        alphas[model.rows] = model.alphas
        cell.alphas.extend(alphas.tolist())
        cell.center_norm2 = model.center_norm2
    return output


def rule_verdicts(
    cell: jobs_pb2.FittedCell, X: Rows, rows: IndexArray, *, limit: int = RULE_ROWS
) -> LabelArray:
    """What the fit of a rule to ``X`` says of some of its rows: +1 inside, -1 outside."""
    if not cell.alphas:
        bits = np.frombuffer(cell.outside, dtype=np.uint8)
        return as_labels(np.unpackbits(bits, count=len(X)).astype(np.bool_)[rows])
    sample = rule_sample(len(X), limit=limit)
    assert sample is not None
    alphas = np.array(cell.alphas)
    support = np.flatnonzero(alphas)
    model = SvddModel(
        gamma=cell.gamma,
        C=cell.c,
        nu=DEFAULT_NU,
        rows=sample[support],
        support=X[sample[support]],
        alphas=alphas[support],
        R2=cell.r2,
        center_norm2=cell.center_norm2,
        degenerate=cell.degenerate,
        fit_rows=sample,
    )
    return as_labels(model.outside(X[rows]))


def missing_rules(stored: Mapping[str, jobs_pb2.FitOutput]) -> Iterable[str]:
    """Rules that are still to be evaluated, in their order."""
    return (name for name in RULES if name not in stored)
