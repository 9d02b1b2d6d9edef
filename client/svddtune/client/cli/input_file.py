"""Paths of files to read, among them -, standard input."""

from __future__ import annotations

import os
from pathlib import Path

import typer


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
