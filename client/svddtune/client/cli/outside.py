"""Outliers as a table and as CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svddtune.client.cli.csv_file import write_csv
from svddtune.client.terminal.output import figure
from svddtune.text import visible

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
    return write_csv(path, ("row", "observation_id", "score", "label"), lines)
