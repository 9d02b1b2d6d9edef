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


def uniform_panel(N: int) -> Panel:
    """A panel that needs no look at the data.

    Parameters
    ----------
    N : int
        Rows of the data.

    Returns
    -------
    Panel
        All rows up to `PANEL_ROWS`, otherwise a uniform sample of that many, the same for every
        caller.
    """
    rows = np.arange(N)
    if N > PANEL_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(N, PANEL_ROWS, replace=False))
    return Panel(rows, np.ones(len(rows)))
