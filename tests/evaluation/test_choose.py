"""``svddtune bench choose``: candidates judged on the set that took no part in choosing them."""

import json
from pathlib import Path

import numpy as np
import pytest

from svddtune.client.cli.app import run
from svddtune.evaluation import lattices
from svddtune.evaluation.choose import leave_one_out
from svddtune.evaluation.lattices import CANDIDATES, PRODUCT, Candidate, scalings
from svddtune.evaluation.sets import BUILTIN
from svddtune.numerics import Views, fit_atlas


def test_choice_for_a_set_ignores_that_set() -> None:
    kappas = np.zeros((2, 3, 2))
    kappas[0] = [[0.9, 0.9], [0.2, 0.2], [0.2, 0.2]]
    kappas[1] = [[0.1, 0.1], [0.3, 0.3], [0.3, 0.5]]
    found = leave_one_out(kappas)
    assert found.candidates.tolist() == [1, 0, 0]
    np.testing.assert_allclose(found.kappa, [[0.1, 0.1], [0.2, 0.2], [0.2, 0.2]])


def test_product_is_first_candidate_and_names_are_distinct() -> None:
    assert next(iter(CANDIDATES.values())) == PRODUCT
    assert all(one.gammas <= lattices.DENSEST for one in CANDIDATES.values())
    kinds = {kind for one in CANDIDATES.values() for kind in one.scalings}
    assert set(scalings(CANDIDATES)) == kinds


def test_cells_of_a_candidate_are_those_of_its_own_lattice() -> None:
    X = np.random.default_rng(0).standard_normal((40, 3)) * [1.0, 5.0, 0.1]
    kinds = ("minmax", "ranks")
    dense = {kind: fit_atlas(Views(X, kind), count=5, cells=7) for kind in kinds}
    found = Candidate(kinds, 3, 4, "minmax").atlas(dense)
    assert len(found) == 2 * 3 * 4
    for kind in kinds:
        own = fit_atlas(Views(X, kind), count=3, cells=4)
        np.testing.assert_allclose(found.gammas(kind), own.gammas(kind))
        np.testing.assert_allclose(found.C[found.scaling == kind], own.C)
        np.testing.assert_array_equal(found.packed[found.scaling == kind], own.packed)


@pytest.mark.slow
@pytest.mark.thorough
def test_command_prints_means_and_honest_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [PRODUCT.name, "minmax:29x20:minmax"]
    docs = tmp_path / "docs"
    arguments = ["--data", BUILTIN, "--sets", "Iris,Wine", "--seeds", "1", "--jobs", "1", "--json"]
    more = ["--candidates", ",".join(names), "--out", str(tmp_path / "out")]
    assert run(["bench", "choose", *arguments, *more, "--write-docs", str(docs)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["means"]) == names
    assert document["product"] == PRODUCT.name
    assert set(document["leave_one_out"]["chosen"]) == {"Iris", "Wine"}
    assert set(document["leave_one_out"]["means"]) == {"25", "50"}
    page = (docs / "evaluation.md").read_text()
    assert "(svddtune)" in page
    assert "--candidates" in page


def test_unknown_candidate_is_refused_with_those_that_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["bench", "choose", "--data", BUILTIN, "--candidates", "magic"]) == 2
    assert "minmax:29x20:minmax" in capsys.readouterr().err
