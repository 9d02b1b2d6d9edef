"""The SVDD of a cell calls the rows outliers that the atlas says it does."""

import numpy as np
import pytest
from tests.numerics.cases import blobs

from svddtune import numerics
from svddtune.numerics.views import Views


def test_model_of_a_cell_has_the_verdicts_of_the_atlas() -> None:
    X, _ = blobs(80, 3, seed=2)
    views = Views(X, "auto")
    atlas = numerics.fit_atlas(views, count=3)
    for cell in range(0, len(atlas), 5):
        model = numerics.cell_model(atlas, cell, views)
        rows = views.rows(str(atlas.scaling[cell]))
        np.testing.assert_array_equal(model.outside(rows), atlas.outside(cell))
        assert model.R2 == pytest.approx(atlas.R2[cell], abs=1e-4)


def test_model_of_a_cell_of_a_large_set_is_that_of_its_sample() -> None:
    X, _ = blobs(numerics.SAMPLED_ABOVE + 200, 2, seed=3)
    views = Views(X, "minmax")
    part = numerics.lattice_part(views, 8)
    atlas = numerics.judged(numerics.fit_atlas_part(views, part), views)
    rows = np.arange(0, len(X), 7)
    for cell in range(0, len(atlas), 4):
        model = numerics.cell_model(atlas, cell, views)
        np.testing.assert_array_equal(
            model.outside(views.rows("minmax")[rows]), atlas.calls(cell, rows)
        )
