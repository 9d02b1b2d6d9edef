"""The baselines give the figures that the paper prints for the data that scikit-learn ships."""

import pytest
from tests.numerics.cases import wdbc

from svddtune.evaluation.baselines import table_columns
from svddtune.numerics import score

# The row of WDBC in the paper's table. Its malignant rows are others than ours.
PAPER = {"dfn_fix": 0.34, "qms": 0.00, "ads": 0.00, "ads_ext": -0.01, "upper_bound": 0.45}


def test_deterministic_columns_on_wdbc_are_those_of_the_paper() -> None:
    X, y = wdbc()
    columns = table_columns(X, y)
    kappas = {name: float(score(y, getattr(columns, name).predictions)) for name in PAPER}
    assert kappas == pytest.approx(PAPER, abs=0.04)
