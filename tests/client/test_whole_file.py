"""Files that are written completely or not at all."""

from pathlib import Path

import pytest

from svddtune.client.whole_file import whole_file


def test_file_is_there_once_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "rows.csv"
    with whole_file(path) as file:
        file.write(b"a,b\n")
        assert not path.exists()
    assert path.read_bytes() == b"a,b\n"
    assert list(path.parent.iterdir()) == [path]


def test_writer_may_close_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with whole_file(path) as file, file:
        file.write(b"a,b\n")
    assert path.read_bytes() == b"a,b\n"


def test_failed_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"before")
    with pytest.raises(RuntimeError, match="cut"):
        write_half(path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path: Path) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise RuntimeError("cut")
