"""Measure what a model's rows were like, so that new rows can be compared with them."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.context import spread_of
from svddtune.numerics.kernel import squared_distances
from svddtune.numerics.mapped import Rows
from svddtune.numerics.svdd import SvddModel, fit
from svddtune.numerics.types import BoolArray, FloatArray
from svddtune.profile import Profile, sketches

FOLDS = 5
"""Parts of the rows, each of which is judged by a fit to the others."""

ALL_PARTS = 2000
"""Rows up to which every part is judged; of more only one, as fits take long."""

FRESH_ROWS = 4096
"""Largest number of rows that are judged."""

_BLOCK = 1 << 22  # distances held at once


def profile_of(model: SvddModel, X: Rows, raw: FloatArray, *, seed: int = 0) -> Profile:
    """Profile the rows that a model was fitted on.

    Parameters
    ----------
    model : SvddModel
        The model; its gamma and nu are used for the fits to parts of the rows.
    X : FloatArray or MappedRows, shape (N, D)
        Rows as the kernel sees them, N >= 1.
    raw : FloatArray, shape (N, M)
        The same rows in the units of their columns.
    seed : int
        Draws the parts.

    Returns
    -------
    Profile
        Without fresh rows below `FOLDS` rows.
    """
    spread = spread_of(raw)
    outside, gap2 = _fresh(model, X, np.random.default_rng(seed))
    return Profile(
        center=spread.center,
        spread=spread.scale,
        columns=sketches(raw),
        count=len(X),
        fresh_count=len(outside),
        fresh_outside=float(outside.mean()) if len(outside) else 0.0,
        fresh_gap2=float(gap2.max()) if len(gap2) else 0.0,
    )


def _fresh(model: SvddModel, X: Rows, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Whether rows are outside a fit without them, and their distance^2 to that fit's vectors."""
    rows = rng.permutation(len(X))
    if model.fit_rows is not None:
        # The model was fitted without most rows.
        fresh = X[rows[~np.isin(rows, model.fit_rows)][:FRESH_ROWS]]
        return model.outside(fresh), _gap2(fresh, model.support)
    if len(X) < FOLDS:
        return np.empty(0, dtype=np.bool_), np.empty(0)
    outside, gap2 = [], []
    for part in range(FOLDS if len(X) <= ALL_PARTS else 1):
        left_out = np.arange(len(rows)) % FOLDS == part
        kept, fresh = X[rows[~left_out]], X[rows[left_out]]
        nu = max(model.nu, 1.0 / len(kept))
        fold = fit(kept, gamma=model.gamma, C=1.0 / (len(kept) * nu))
        outside.append(fold.outside(fresh))
        gap2.append(_gap2(fresh, fold.support))
    return np.concatenate(outside), np.concatenate(gap2)


def _gap2(X: FloatArray, support: FloatArray) -> FloatArray:
    step = max(1, _BLOCK // len(support))
    near = [
        squared_distances(X[start : start + step], support).min(axis=1)
        for start in range(0, len(X), step)
    ]
    return np.asarray(np.maximum(np.concatenate(near), 0.0))
