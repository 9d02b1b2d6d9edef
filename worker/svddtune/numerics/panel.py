"""The panel: rows that stand for all in sums over rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svddtune.numerics.types import FloatArray, IndexArray

PANEL_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Panel:
    """Rows of a set, and for how many rows each stands.

    Attributes
    ----------
    rows : IndexArray, shape (P,)
        Ascending.
    weights : FloatArray, shape (P,)
        Positive, of mean 1: sum of weights times values over sum of weights estimates the mean over
        all rows without bias.
    """

    rows: IndexArray
    weights: FloatArray


def panel_rows(N: int) -> IndexArray:
    """Rows of a panel that needs no look at the data.

    Parameters
    ----------
    N : int
        Rows of the data.

    Returns
    -------
    IndexArray, shape (P,)
        Ascending; all rows up to `PANEL_ROWS`, otherwise a uniform sample of that many, the same
        for every caller.
    """
    if N <= PANEL_ROWS:
        return np.arange(N)
    return np.sort(np.random.default_rng(0).choice(N, PANEL_ROWS, replace=False))


def uniform_panel(N: int) -> Panel:
    """A panel of `panel_rows`, which all weigh alike."""
    rows = panel_rows(N)
    return Panel(rows, np.ones(len(rows)))
