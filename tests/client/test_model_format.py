"""Model files can be read by the page that describes them; so any language can judge rows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.client.model_reader import Model
from tests.golden.model.make import FOLDER, models

from svddtune.client import SvddModel

FILES = sorted(FOLDER.glob("*.npz"))


def expected(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
    return told


def test_there_is_a_file_for_every_kind_of_model() -> None:
    assert [path.stem for path in FILES] == sorted(models())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reader_by_the_page_gives_the_expected_figures(path: Path) -> None:
    model, told = Model(path), expected(path)
    found = [model.distance2(row) for row in told["rows"]]
    np.testing.assert_allclose(found, told["distance2"], rtol=0, atol=1e-9)
    assert [1 if d2 <= model.threshold else -1 for d2 in found] == told["svdd"]
    assert {1, -1} == set(told["svdd"])
    check = [model.distance2(row) for row in model.arrays["check_rows"]]
    np.testing.assert_allclose(check, model.arrays["check_distance2"], rtol=0, atol=1e-9)
    assert model.has_refined == ("probability" in told)
    if model.has_refined:
        scores = [model.refined_score(row) for row in told["rows"]]
        np.testing.assert_allclose(scores, told["refined_score"], rtol=0, atol=1e-9)
        assert [-1 if score >= 0.5 else 1 for score in scores] == told["refined"]
        chances = [model.probability(row) for row in told["rows"]]
        np.testing.assert_allclose(chances, told["probability"], rtol=0, atol=1e-9)
        check = [model.probability(row) for row in model.arrays["check_rows"]]
        np.testing.assert_allclose(check, model.arrays["check_probability"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_package_gives_the_expected_figures(path: Path) -> None:
    model, told = SvddModel.load(path), expected(path)
    X = np.array(told["rows"])
    np.testing.assert_allclose(model.distance2(X), told["distance2"], rtol=0, atol=1e-12)
    assert model.predict(X).tolist() == told["svdd"]
    if model.refined is not None:
        np.testing.assert_allclose(model.probability(X), told["probability"], rtol=0, atol=1e-12)
        assert model.predict(X, which="refined").tolist() == told["refined"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_that_is_read_and_written_again_is_the_same(path: Path, tmp_path: Path) -> None:
    again = SvddModel.load(path).save(tmp_path / "again.npz")
    assert again.read_bytes() == path.read_bytes()
