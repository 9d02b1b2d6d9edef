"""Files that say by their column names what is what."""

from __future__ import annotations

from pathlib import Path

import pytest

from svddtune.client import InvalidInput
from svddtune.client.files.data import Data, read_data
from svddtune.client.files.read_table import read_table


def read(path: Path, text: str, **options: object) -> Data:
    path.write_text(text)
    return read_data(read_table(path), **options)  # type: ignore[arg-type]


def test_observation_needs_no_options(tmp_path: Path) -> None:
    text = "id,key,time,display:summary,a\nx,db-7,2026-01-01T00:00:00Z,down,1\ny,,t,,2\n"
    data = read(tmp_path / "d.csv", text)
    assert data.ids == ["x", "y"]
    assert data.has_ids
    assert data.feature_names == ["a"]
    assert data.display == [{"summary": "down"}, {}]


def test_options_come_first(tmp_path: Path) -> None:
    text = "id,key,time,display:summary,n,a\nx,k,t,down,7,1\ny,,t,,8,2\n"
    data = read(tmp_path / "d.csv", text, id_column="n", show=["key"], ignore=["display:summary"])
    assert data.ids == ["7", "8"]
    assert data.feature_names == ["a"]
    assert data.display == [{"key": "k"}, {"key": ""}]


def test_id_key_and_time_are_ordinary_columns_unless_all_exist(tmp_path: Path) -> None:
    assert read(tmp_path / "d.csv", "id,time,a\n1,2,3\n4,5,6\n").feature_names == [
        "id",
        "time",
        "a",
    ]
    with pytest.raises(InvalidInput, match="column 'key': 'x' is not a number"):
        read(tmp_path / "d.csv", "id,key,a\n1,x,3\n4,y,6\n")
