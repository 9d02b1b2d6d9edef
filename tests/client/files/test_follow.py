import os
from pathlib import Path

import pytest

from svddtune.client.errors import InvalidInput
from svddtune.client.files.follow import Follower


def append(path: Path, text: str | bytes) -> None:
    with path.open("ab") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def keys(follower: Follower) -> list[object]:
    return [record.values["key"] for record in follower.poll()]


def test_incomplete_line_is_read_once_its_end_is_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, '{"key": 1}\n{"key"')
    with Follower(path, pytest.fail) as follower:
        assert keys(follower) == [1]
        assert keys(follower) == []
        append(path, ': "\u00e9'.encode()[:-1])  # not even the character is complete
        assert keys(follower) == []
        append(path, "\u00e9".encode()[-1:] + b'"}')
        assert keys(follower) == []
        append(path, '\n{"key": 3}\n')
        assert keys(follower) == ["\u00e9", 3]


def test_a_csv_cell_over_several_lines_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    append(path, "key,note\nA,one\nB,")
    with Follower(path, pytest.fail) as follower:
        assert keys(follower) == ["A"]
        append(path, '"first\n')
        assert keys(follower) == []
        append(path, 'second"\n')
        (record,) = follower.poll()
        assert dict(record.values) == {"key": "B", "note": "first\nsecond"}
        assert record.place == f"{path} line 3"


def test_an_empty_file_may_get_its_header_later(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.touch()
    with Follower(path, pytest.fail) as follower:
        assert keys(follower) == []
        append(path, "key\nA\n")
        assert keys(follower) == ["A"]


def test_a_replaced_file_is_read_to_its_end_then_the_new_one(tmp_path: Path) -> None:
    path, notices = tmp_path / "t.csv", list[str]()
    append(path, "key,n\nA,1\n")
    with Follower(path, notices.append) as follower:
        assert keys(follower) == ["A"]
        append(path, "B,2\nhalf")
        path.rename(tmp_path / "t.csv.1")
        append(tmp_path / "t.csv.1", "-written")
        assert keys(follower) == ["B"]
        assert notices == []
        append(path, "n,key\n3,C\n")  # another header, too
        assert keys(follower) == ["C"]
        assert notices == [
            f"{path} was replaced: reading the new file; "
            "12 bytes of a half-written line were left unread"
        ]


def test_a_file_that_became_shorter_is_read_from_its_start(tmp_path: Path) -> None:
    path, notices = tmp_path / "t.jsonl", list[str]()
    append(path, '{"key": 1}\n{"key": 2}\n')
    with Follower(path, notices.append) as follower:
        assert keys(follower) == [1, 2]
        os.truncate(path, 0)
        append(path, '{"key": 3}\n')
        assert keys(follower) == [3]
        assert notices == [f"{path} became shorter: reading it from its start"]


def test_a_broken_line_and_parquet_are_faults(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, '{"key": 1}\n{"key" 2}\n')
    with Follower(path, pytest.fail) as follower, pytest.raises(InvalidInput, match="line 2"):
        keys(follower)
    columns = tmp_path / "t.parquet"
    columns.touch()
    with pytest.raises(InvalidInput, match="does not grow; follow CSV or JSON lines"):
        Follower(columns, pytest.fail)
