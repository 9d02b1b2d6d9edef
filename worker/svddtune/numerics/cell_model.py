"""The SVDD of one cell of the atlas, which stores verdicts and not the fits themselves."""

from __future__ import annotations

import numpy as np

from svddtune.numerics.atlas import Atlas
from svddtune.numerics.mapped import complete
from svddtune.numerics.svdd import SvddModel, fit
from svddtune.numerics.views import Views


def cell_model(atlas: Atlas, cell: int, views: Views) -> SvddModel:
    """Return the description of the data that a cell is.

    Parameters
    ----------
    atlas : Atlas
        Of `views`.
    cell : int
        In the atlas.
    views : Views
        The data.

    Returns
    -------
    SvddModel
        Fitted anew to all rows of the cell's representation; of a large dataset, whose cells were
        fitted to a sample, it is put together from what the atlas keeps of that fit.
    """
    X = views.rows(str(atlas.scaling[cell]))
    gamma, C = float(atlas.gamma[cell]), float(atlas.C[cell])
    models = atlas.models
    if models is None:
        return fit(complete(X), gamma=gamma, C=C)
    chosen = np.flatnonzero(models.alphas[cell])
    rows = models.rows[chosen]
    return SvddModel(
        gamma=gamma,
        C=C,
        nu=1.0 / (len(X) * C),
        rows=rows,
        support=X[rows],
        alphas=models.alphas[cell, chosen],
        R2=float(atlas.R2[cell]),
        center_norm2=float(models.norms2[cell]),
        degenerate=bool(models.degenerate[cell]),
        fit_rows=models.rows,
    )
