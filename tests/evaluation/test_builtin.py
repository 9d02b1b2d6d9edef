"""Sets that need no file are the same every time and have the structure that they promise."""

from pathlib import Path

import numpy as np
import pytest

from svddtune.client.errors import UsageError
from svddtune.evaluation import builtin
from svddtune.evaluation.paper import SETS
from svddtune.evaluation.sets import BUILTIN, find_sets, judged, load


@pytest.mark.parametrize("name", builtin.SETS)
def test_set_is_finite_and_has_rows_of_both_classes(name: str) -> None:
    X, y = load(f"{BUILTIN}{name}")
    assert np.isfinite(X).all()
    assert X.min() >= 0.0
    assert X.max() <= 1.0
    assert len(X) == len(y) <= 1000
    assert 4 <= (y == -1).sum() <= 0.4 * len(y)


def test_rows_do_not_depend_on_earlier_sets() -> None:
    X, y = builtin.make("Wine")
    builtin.make.cache_clear()
    builtin.make("Ring")
    again, truth = builtin.make("Wine")
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, truth)


def test_outliers_of_correlated_columns_lie_off_the_plane_of_the_inliers() -> None:
    X, y = builtin.make("Correlated")
    inliers = X[y == 1]
    _, _, directions = np.linalg.svd(inliers - inliers.mean(axis=0), full_matrices=False)
    off = np.linalg.norm((X - inliers.mean(axis=0)) @ directions[2:].T, axis=1)
    assert np.median(off[y == -1]) > 5 * np.median(off[y == 1])


def test_find_sets_takes_builtin_in_place_of_folder() -> None:
    found = find_sets(Path(BUILTIN))
    assert [one.name for one in found] == list(builtin.SETS)
    assert not set(builtin.SETS) & set(SETS)
    assert judged(found) == found
    assert [one.name for one in find_sets(Path(BUILTIN), ["wine"])] == ["Wine"]
    with pytest.raises(UsageError, match="Nothing"):
        find_sets(Path(BUILTIN), ["Nothing"])
