"""CSV files that a spreadsheet may open."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path

from svddtune.client.whole_file import whole_file
from svddtune.text import formula_cell


def write_csv(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> Path:
    """Write a file completely or not at all; return its path.

    Text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    with whole_file(path) as raw, TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(map(formula_cell, line) for line in lines)
    return path
