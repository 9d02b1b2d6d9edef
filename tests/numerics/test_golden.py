"""Stored reference cases, within the tolerances that tests/golden/README.md states."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.numerics.cases import bundled_set

from svddtune.numerics import (
    FloatArray,
    LabelArray,
    Preparation,
    best_gamma,
    c_bounds,
    fit_cells,
    local_alignment,
    prepare,
    tau,
)
from svddtune.numerics.alignment import aligned, centred_kernel

CASES = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))


class Golden:
    def __init__(self, path: Path) -> None:
        self.case: dict[str, Any] = json.loads(path.read_text())
        self.X: FloatArray = bundled_set(self.case["dataset"])[0]
        self.k: int = self.case["k"]
        self.labels: LabelArray = np.zeros(len(self.X), dtype=np.int8)
        for row, label in self.case["labels"].items():
            self.labels[int(row)] = label
        # More neighbours than needed: a prefix must serve.
        self.prep: Preparation = prepare(self.X, k=self.k + 3, gamma_bounds=(0.1, 100.0))
        self.local = local_alignment(self.prep, self.X, self.labels, k=self.k)


@pytest.fixture(scope="module", params=CASES, ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.param)


def test_neighbors_equal_golden_case(golden: Golden) -> None:
    for row, near in golden.case["nn"].items():
        assert golden.prep.nn[int(row), : golden.k].tolist() == near


def test_counts_and_pools_equal_golden_case(golden: Golden) -> None:
    pools = golden.local.pools
    for name, counts in (("n_in", pools.n_in), ("n_out", pools.n_out)):
        assert {str(row): int(counts[row]) for row in np.flatnonzero(counts)} == golden.case[name]
    assert np.flatnonzero(pools.y == 1).tolist() == golden.case["pool_in"]
    assert np.flatnonzero(pools.y == -1).tolist() == golden.case["pool_out"]


def test_pairs_equal_golden_case(golden: Golden) -> None:
    edges, mask = golden.local.edges, golden.local.mask
    found = zip(edges.i[mask].tolist(), edges.j[mask].tolist(), strict=True)
    assert sorted(found) == sorted((i, j) for i, j in golden.case["pairs"])


def test_alignment_by_interpolated_means_equals_golden_case(golden: Golden) -> None:
    gammas = np.array([float(gamma) for gamma in golden.case["alignment"]])
    expected = np.array(list(golden.case["alignment"].values()))
    np.testing.assert_allclose(golden.local(gammas), expected, rtol=0, atol=1e-5)


def test_alignment_by_exact_means_equals_golden_case(golden: Golden) -> None:
    D2 = np.square(golden.X[:, None] - golden.X).sum(axis=2)
    edges, mask, y = golden.local.edges, golden.local.mask, golden.local.pools.y
    i, j = edges.i[mask], edges.j[mask]
    Yc = (y[i] - y.mean()) * (y[j] - y.mean())
    for gamma, expected in golden.case["alignment"].items():
        K = np.exp(-float(gamma) * D2)
        r = K.mean(axis=1)
        Kc = centred_kernel(edges.D2[mask], r[i] + r[j], K.mean(), float(gamma))
        assert aligned(Kc[:, None], Yc)[0] == pytest.approx(expected, rel=0, abs=1e-9)


def test_optimal_gamma_equals_golden_case(golden: Golden) -> None:
    gamma, value = best_gamma(golden.local, (0.1, 100.0))
    assert gamma == pytest.approx(golden.case["gamma_opt"], rel=0.01)
    assert value == pytest.approx(golden.case["alignment_opt"], rel=0, abs=1e-5)


def test_tau_and_next_query_equal_golden_case(golden: Golden) -> None:
    rows = np.array([int(row) for row in golden.case["tau"]])
    expected = np.array(list(golden.case["tau"].values()))
    values = tau(golden.local, golden.X, rows, k=golden.k, gamma=golden.case["query_gamma"])
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)
    assert rows[values.argmax()] == golden.case["next_query"]


def test_bounds_of_c_equal_golden_case(golden: Golden) -> None:
    C_LB, C_UB = c_bounds(golden.X, gamma=golden.case["query_gamma"])
    assert golden.case["C_LB"] == C_LB
    assert pytest.approx(golden.case["C_UB"], rel=1e-4) == C_UB


def test_cells_equal_golden_case(golden: Golden) -> None:
    cells = golden.case["cells"]
    C = np.array([cell["C"] for cell in cells])
    fits = fit_cells(golden.X, gamma=golden.case["query_gamma"], C=C)
    for model, outside, cell in zip(fits.models, fits.outside, cells, strict=True):
        assert model.nu == pytest.approx(cell["nu"])
        assert pytest.approx(cell["R2"], rel=1e-4, abs=1e-9) == model.R2
        assert np.flatnonzero(outside).tolist() == cell["outliers"]
