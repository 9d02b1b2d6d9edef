"""The columns of the paper's table on its data, where they are at hand.

Deterministic columns are compared set by set. Known differences: at gamma = 1e-4 all images are
within 1e-3 of each other and the authors' solver decides (ADS on Hepatitis and Lymphography).
"""

import numpy as np
import pytest
from tests.numerics.cases import benchmark_set

from svddtune.numerics import LabelArray, score
from svddtune.numerics.baselines import Choice, best_on_labels, random_labels, table_columns

NONE = float("nan")

# DFN-Fix, QMS, ADS, ADS-ext, empirical upper bound
PAPER = {
    "Annthyroid": (0.00, 0.00, 0.00, 0.00, 0.04),
    "Cardiotocography": (0.00, NONE, 0.00, 0.00, 0.24),
    "Glass": (0.04, NONE, 0.00, 0.00, 0.25),
    "HeartDisease": (0.00, 0.00, 0.00, -0.02, 0.13),
    "Hepatitis": (0.00, 0.05, 0.08, 0.05, 0.21),
    "Ionosphere": (0.00, NONE, 0.59, 0.00, 0.78),
    "Lymphography": (0.47, NONE, 0.48, 0.48, 0.51),
    "PageBlocks": (0.10, 0.00, 0.00, 0.00, 0.52),
    "Pima": (0.02, 0.00, 0.00, 0.00, 0.14),
    "Shuttle": (0.13, 0.00, 0.00, 0.00, 0.31),
    "SpamBase": (0.00, 0.00, 0.00, 0.00, 0.04),
    "Stamps": (0.08, 0.00, 0.00, 0.01, 0.21),
    "WBC": (0.53, 0.00, 0.00, 0.45, 0.59),
    "WDBC": (0.34, 0.00, 0.00, -0.01, 0.45),
    "WPBC": (-0.03, 0.00, -0.02, -0.05, 0.08),
    "Waveform": (0.00, 0.00, 0.00, 0.04, 0.11),
}
SOLVER_DECIDES = {("Hepatitis", "ads"), ("Lymphography", "ads")}
SAMPLE_MEANS = {"Ionosphere": 0.55, "PageBlocks": 0.42, "Stamps": 0.18}


def kappa(y: LabelArray, choice: Choice | None) -> float:
    return NONE if choice is None else float(score(y, choice.predictions))


@pytest.mark.parametrize(
    ("name", "paper_name"),
    [
        # The paper's WDBC, with other malignant rows, is at hand everywhere.
        ("Wisconsin", "WDBC"),
        *(pytest.param(name, name, marks=pytest.mark.slow) for name in PAPER),
    ],
)
def test_deterministic_columns(name: str, paper_name: str) -> None:
    X, y = benchmark_set(name)
    columns = table_columns(X, y)
    names = ("dfn_fix", "qms", "ads", "ads_ext", "upper_bound")
    for column, paper in zip(names, PAPER[paper_name], strict=True):
        ours = kappa(y, getattr(columns, column))
        if (name, column) not in SOLVER_DECIDES:
            assert ours == pytest.approx(paper, abs=0.04, nan_ok=True), column
    if name in SAMPLE_MEANS:
        assert columns.dfn_cells is not None
        sampled = [
            kappa(
                y,
                best_on_labels(
                    columns.dfn_cells, random_labels(y, rng=np.random.default_rng(seed))
                ),
            )
            for seed in range(5)
        ]
        assert np.mean(sampled) == pytest.approx(SAMPLE_MEANS[name], abs=0.08)
