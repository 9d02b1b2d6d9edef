from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client.files.data import read_data
from svddtune.client.files.read_table import read_table

ROWS = 40
RNG = np.random.default_rng(0)
PLAIN = [f"{value:.4f}" for value in RNG.normal(size=ROWS)]


def found(
    folder: Path, name: str, values: list[Any], *, scaling: str = "none", **options: Any
) -> list[str]:
    path = folder / "d.csv"
    lines = [f"{name},plain", *(f"{v},{p}" for v, p in zip(values, PLAIN, strict=True))]
    path.write_text("\n".join(lines))
    notes = read_data(read_table(path), scaling=scaling, **options).notes
    assert all(note.column == name and repr(name) in note.message for note in notes)
    return [note.reason for note in notes]


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("c", ["7"] * ROWS, "CONSTANT_COLUMN"),
        ("n", list(range(1, ROWS + 1)), "ID_COLUMN"),
        ("host_id", RNG.permutation(5000)[:ROWS].tolist(), "ID_COLUMN"),
        ("alertId", RNG.permutation(5000)[:ROWS].tolist(), "ID_COLUMN"),
        ("t", RNG.integers(1_700_000_000, 1_710_000_000, ROWS).tolist(), "TIME_COLUMN"),
        ("t", (RNG.random(ROWS) * 1e6 + 1.7e9).tolist(), "TIME_COLUMN"),
        ("t", RNG.integers(1_700_000_000_000, 1_710_000_000_000, ROWS).tolist(), "TIME_COLUMN"),
        ("d", (20240300 + RNG.integers(1, 29, ROWS)).tolist(), "TIME_COLUMN"),
        ("x", (43211500 + RNG.integers(0, 4, ROWS)).tolist(), "CATEGORY_COLUMN"),
        ("proto", RNG.choice([1, 6, 17], ROWS).tolist(), "CATEGORY_COLUMN"),
        ("x", [f"0{value}" for value in RNG.integers(10, 99, ROWS)], "CATEGORY_COLUMN"),
        ("bytes", (RNG.normal(size=ROWS) * 1e6).tolist(), "SPREAD"),
    ],
)
def test_suspicious_column_gets_a_note(
    tmp_path: Path, name: str, values: list[Any], reason: str
) -> None:
    assert found(tmp_path, name, values) == [reason]
    assert found(tmp_path, name, values, ignore=["plain", "0"][:1]) in ([reason], [])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", RNG.normal(size=ROWS).tolist()),
        ("count", RNG.integers(0, 9, ROWS).tolist()),
        ("flag", RNG.integers(0, 2, ROWS).tolist()),
        ("age", RNG.integers(18, 90, ROWS).tolist()),
        ("x", (RNG.normal(size=ROWS) * 100).tolist()),
    ],
)
def test_ordinary_column_gets_no_note(tmp_path: Path, name: str, values: list[Any]) -> None:
    assert found(tmp_path, name, values) == []


@pytest.mark.parametrize("scaling", ["auto", "robust"])
def test_scaled_features_get_no_note_on_their_spread(tmp_path: Path, scaling: str) -> None:
    values = (RNG.normal(size=ROWS) * 1e6).tolist()
    assert found(tmp_path, "bytes", values, scaling=scaling) == []


def test_column_named_by_an_option_gets_no_note(tmp_path: Path) -> None:
    assert found(tmp_path, "n", list(range(ROWS)), id_column="n") == []
    assert found(tmp_path, "n", list(range(ROWS)), ignore=["n"]) == []


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False).map(np.trunc), min_size=5, max_size=9)
)
def test_whole_numbers_of_any_size_are_judged_without_a_warning(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    # Differences of such numbers may exceed the largest double; here a warning is an error.
    path = tmp_path_factory.mktemp("whole") / "d.csv"
    path.write_text("".join(f"{value!r},0.5\n" for value in map(float, values)))
    data = read_data(read_table(path))
    np.testing.assert_array_equal(data.X[:, 0], values)
