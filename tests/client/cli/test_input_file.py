from pathlib import Path

import pytest
import typer

from svddtune.client.cli.app import run
from svddtune.client.cli.file_options import input_file


def test_standard_input_and_files_that_are_there_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a\n")
    assert input_file(str(file)) == file
    assert input_file("-") == Path("-")


def test_other_paths_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="is a directory"):
        input_file(str(tmp_path))
    with pytest.raises(typer.BadParameter, match="does not exist"):
        input_file(str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    "command",
    [
        ["tune"],
        ["predict", __file__],
        ["oracle", "simulate"],
        ["oracle", "check"],
        ["observations", "alertmanager"],
    ],
)
def test_wrong_path_is_usage_in_every_command_that_reads_files(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "nowhere.csv"]) == 2
    assert "nowhere.csv' does not exist" in capsys.readouterr().err
