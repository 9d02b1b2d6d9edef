"""Options and helpers of the commands that read files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.terminal.output import say

if TYPE_CHECKING:
    from svddtune.client.files.source import TextFormat
    from svddtune.client.files.table import Note


def input_file(text: str) -> Path:
    """Return the path of a file that can be read; - is standard input.

    A parser for options and arguments: with `exists=True` Typer refuses - in spite of
    `allow_dash=True` where the value is a Path.
    """
    path = Path(text)
    if text == "-":
        return path
    if path.is_dir():
        raise typer.BadParameter(f"file {text!r} is a directory.")
    if not path.exists():
        raise typer.BadParameter(f"file {text!r} does not exist.")
    if not os.access(path, os.R_OK):
        raise typer.BadParameter(f"file {text!r} is not readable.")
    return path


DATA_HELP = (
    "CSV (with or without a header), NPZ (X, optional y), NPY, ARFF or Parquet, plain or .gz; - "
    "is standard input."
)

DataFile = Annotated[
    Path,
    typer.Argument(parser=input_file, metavar="DATA", help=DATA_HELP),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        parser=input_file,
        metavar="FILE",
        help="File with two columns, the id or row and the verdict; - is standard input.",
    ),
]
StartFile = Annotated[
    Path | None,
    typer.Option(
        parser=input_file, metavar="FILE", help="File of initial labels, in the form of --labels."
    ),
]
ControlsFile = Annotated[
    Path | None,
    typer.Option(
        "--controls",
        parser=input_file,
        metavar="FILE",
        help="File of control items, in the form of --start: observations whose labels are known, "
        "asked to see how good labelers are. The answers are no votes.",
    ),
]
OutlierValue = Annotated[
    str | None, typer.Option(help="Value that marks an outlier; all others are inliers.")
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of DATA that holds the classes, by name or by number from 0. It is not a "
        "feature."
    ),
]
Show = Annotated[
    list[str] | None,
    typer.Option("--show", help="Column to show to labelers, which is not a feature. Repeatable."),
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column of DATA that holds the observations' ids.")
]
Ignore = Annotated[list[str] | None, typer.Option(help="Column to leave out. Repeatable.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line is a header. Default: detected."
    ),
]
Encoding = Annotated[
    str,
    typer.Option(metavar="NAME", help="Encoding of text files, e.g. cp1252, latin-1 or utf-16."),
]
Decimal = Annotated[
    str, typer.Option(metavar="SIGN", help="Decimal separator in text files: . or ,")
]
Delimiter = Annotated[
    str,
    typer.Option(
        metavar="SIGN",
        help="Separator between the cells of CSV. Default: detected from the first lines.",
    ),
]


def text_format(encoding: str, decimal: str = ".", delimiter: str = "") -> TextFormat:
    """Return the format of text files; UsageError for an invalid option."""
    from svddtune.client.errors import InvalidInput, UsageError
    from svddtune.client.files.source import TextFormat

    try:
        return TextFormat(encoding, decimal, delimiter.replace("\\t", "\t"))
    except InvalidInput as error:
        raise UsageError(error.message, reason=error.reason, metadata=error.metadata) from None


def data_name(path: Path) -> str:
    """Return the default name of data: the file's name without endings."""
    from svddtune.client.files.source import STDIN

    if path == STDIN:
        return "standard input"
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def check_one_stdin(files: Mapping[str, Path | None]) -> None:
    """Raise UsageError where more than one file is standard input, which can be read once."""
    from svddtune.client.errors import UsageError
    from svddtune.client.files.source import STDIN

    given = [name for name, path in files.items() if path == STDIN]
    if len(given) > 1:
        raise UsageError(f"Only one of {' and '.join(given)} can be - (standard input)")


SCALINGS = (
    "auto: the labels choose. Or none, minmax, robust, standard, ranks, normal, asinh or whitened."
)


Scaling = Annotated[str, typer.Option(help=f"Scaling of the columns. {SCALINGS}")]


def check_scaling(word: str) -> None:
    """Raise UsageError unless datasets can be scaled so."""
    from svddtune.client.errors import InvalidInput, UsageError
    from svddtune.client.wire.convert import SCALINGS, choice

    try:
        choice(SCALINGS, word, "--scaling")
    except InvalidInput as error:
        raise UsageError(error.message) from None


def show_notes(notes: Iterable[Note]) -> None:
    """Print the notes on the data to stderr."""
    for note in notes:
        say(f"Note: {note.message}")


def notes_document(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Return the notes on the data for --json."""
    return [
        {"reason": note.reason, "column": note.column, "message": note.message} for note in notes
    ]
