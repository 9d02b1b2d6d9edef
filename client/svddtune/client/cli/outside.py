"""Which rows are outside, as a table for people and as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svddtune.client.cli.output import figure

if TYPE_CHECKING:
    from rich.table import Table

    from svddtune.client.outside import OutsideRow

OUTSIDE_FILE = "outside.csv"
COLUMNS = ("row", "observation_id", "score", "label")


def outside_table(rows: Sequence[OutsideRow], *, shown: int = 12) -> Table:
    """Return a table of the farthest `shown` rows; its title says how many there are in all."""
    from rich.table import Table
    from rich.text import Text

    title = f"Outside: {len(rows)} rows"
    if len(rows) > shown:
        title += f", the farthest {shown} of them"
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    table.add_column("row", justify="right")
    table.add_column("observation", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("label")
    for one in rows[:shown]:
        label = one.label.value if one.label else "-"
        table.add_row(str(one.row), Text(one.observation_id), figure(one.score, 3), label)
    return table


def write_outside(path: Path, rows: Sequence[OutsideRow]) -> Path:
    """Write all rows outside as CSV, the farthest first; return the path."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for one in rows:
            label = one.label.value if one.label else ""
            writer.writerow([one.row, one.observation_id, repr(one.score), label])
    return path
