"""Outliers as a table and as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from svddtune.client.terminal.output import figure
from svddtune.client.whole_file import whole_file
from svddtune.text import formula_cell, visible

if TYPE_CHECKING:
    from rich.table import Table

    from svddtune.client.outside import OutsideRow

OUTSIDE_FILE = "outside.csv"


def outside_table(rows: Sequence[OutsideRow], *, shown: int = 12, labels: bool = True) -> Table:
    """Return a table of the farthest `shown` rows; its last line counts the others."""
    from rich.table import Table

    table = Table(
        title="Outside, farthest first", title_justify="left", title_style="bold", box=None
    )
    table.add_column("row", justify="right")
    table.add_column("observation", overflow="fold")
    table.add_column("score", justify="right")
    if labels:
        table.add_column("label")
    for one in rows[:shown]:
        cells = [str(one.row), visible(one.observation_id), figure(one.score, 3)]
        if labels:
            cells.append(one.label.value if one.label else "-")
        table.add_row(*cells)
    if len(rows) > shown:
        table.add_row("...", f"{len(rows) - shown} more")
    return table


def write_outside(path: Path, rows: Sequence[OutsideRow]) -> Path:
    """Write all rows outside as CSV, the farthest first; return the path."""
    lines = (
        (str(one.row), one.observation_id, repr(one.score), one.label.value if one.label else "")
        for one in rows
    )
    return _write_csv(path, ("row", "observation_id", "score", "label"), lines)


def _write_csv(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> Path:
    """Write a file completely or not at all.

    Text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    with whole_file(path) as raw, TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(map(formula_cell, line) for line in lines)
    return path
