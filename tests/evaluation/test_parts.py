"""Parts of the evaluation equal slow, obvious versions."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.scene import cloud, write_sets

from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.paper import COLUMNS, PAPER, published, published_mean
from svddtune.evaluation.plan import select
from svddtune.evaluation.sets import find_sets, load, paper_draw, set_name
from svddtune.evaluation.store import Store
from svddtune.evaluation.summary import point_at
from svddtune.evaluation.variants import global_alignment
from svddtune.numerics import prepare


def test_global_alignment_covers_all_labelled_pairs() -> None:
    X, y = cloud(40, 6, seed=5)
    labels = np.where(np.arange(40) % 3 == 0, y, 0).astype(np.int8)
    labels[np.flatnonzero(y == -1)[:2]] = -1
    gammas = np.array([0.5, 4.0, 30.0])
    found = global_alignment(prepare(X, k=5), X, labels)(gammas)
    H = np.eye(40) - 1 / 40
    rows = np.flatnonzero(labels)
    centred = (labels - labels.mean())[rows]
    Y = np.outer(centred, centred)
    for gamma, value in zip(gammas, found, strict=True):
        K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        Kc = (H @ K @ H)[np.ix_(rows, rows)]
        expected = (Kc * Y).sum() / np.sqrt((Kc**2).sum() * (Y**2).sum())
        assert value == pytest.approx(expected, abs=1e-4)


def test_paper_draw_keeps_the_share_of_outliers() -> None:
    y = np.repeat(np.array([1, -1], dtype=np.int8), (900, 100))
    rows = paper_draw(y, most=250)
    assert len(set(rows.tolist())) == len(rows) == 250
    assert (y[rows] == -1).sum() == 25
    assert not (np.diff(rows) > 0).all()
    assert paper_draw(y, most=1000).tolist() == list(range(1000))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("Glass.npz", "Glass"),
        ("pima_withoutdupl_norm_35.arff", "Pima"),
        ("WDBC_withoutdupl_norm_v01.arff", "WDBC"),
        ("mine.csv", "mine"),
    ],
)
def test_set_name_comes_from_file_name(file: str, name: str) -> None:
    assert set_name(Path(file)) == name


def test_all_formats_give_rows_and_truth(tmp_path: Path) -> None:
    folder = write_sets(tmp_path / "data")
    found = {one.name: one for one in find_sets(folder)}
    assert list(found) == ["Glass", "Stamps", "own"]
    assert (found["Stamps"].N, found["Stamps"].M, found["Stamps"].outliers) == (70, 2, 9)
    X, y = load(found["Stamps"].path)
    expected, truth = cloud(70, 9, seed=2)
    expected = (expected - expected.min(axis=0)) / np.ptp(expected, axis=0)
    np.testing.assert_allclose(X, expected)
    np.testing.assert_array_equal(y, truth)
    assert (found["own"].N, found["own"].outliers) == (55, 5)


def test_published_figures_cover_every_set_and_column() -> None:
    assert len(PAPER) == 16
    assert all(len(values) == len(COLUMNS) for values in PAPER.values())
    assert published("Glass", "qms") is None
    assert published("Glass", "default") is None
    assert published_mean(PAPER, "lama") == pytest.approx(0.216, abs=5e-4)
    assert published_mean(PAPER, "upper_bound") == pytest.approx(0.288, abs=5e-4)


def test_point_at_returns_last_choice_within_label_count() -> None:
    record = {"points": [{"labels": n} for n in (5, 10, 40)]}
    assert point_at(record, 25) == {"labels": 10}
    assert point_at(record, 40) == {"labels": 40}
    assert point_at(record, 2) == {"labels": 5}


def test_store_returns_only_complete_records(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("a", {"kappa": 0.1})
    assert store.get("a") == {"kappa": 0.1}
    assert store.get("b") is None
    (tmp_path / "a.json").write_text(json.dumps({"kappa": 0.1})[:-3])
    assert store.get("a") is None


def test_selected_method_brings_those_of_the_same_sessions() -> None:
    names = [method.name for method in select(["lama", "refined"])]
    assert names == ["lama", "default_aside", "default_aside_25", "refined", "refined_25"]
    assert [method.name for method in select(["qms"])] == ["qms"]
    assert [method.name for method in select([])] == list(METHODS)
