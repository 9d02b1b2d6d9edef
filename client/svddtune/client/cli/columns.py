"""Tables that fit the terminal: they never break an id, and drop columns that matter less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svddtune.client.terminal.output import stdout
from svddtune.text import visible

if TYPE_CHECKING:
    from rich.console import Console

_GAP = 2
# What remains of a column that gives way, at least.
_LEAST = 6


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
    rank : int
        Columns of the highest rank are dropped first where the terminal is narrow; those of rank 0
        stay.
    flexible : bool
        Its cells are cut where the terminal is narrow. Elsewhere they are shown in full.
    right : bool
        Figures, aligned to the right.
    rare : bool
        Left out where all its cells are empty; else an empty one is a dash.
    """

    title: str
    rank: int = 0
    flexible: bool = False
    right: bool = False
    rare: bool = False


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows on stdout; into a pipe in full width, on a terminal within its width."""
    from rich.cells import cell_len, set_cell_size

    console = stdout()
    given = [[visible(cell) for cell in row] for row in rows]
    columns, given = _told(columns, given)
    cells = [[column.title for column in columns], *given]
    kept = list(range(len(columns)))
    widths = [max(cell_len(row[j]) for row in cells) for j in kept]
    least = [
        min(width, max(_LEAST, cell_len(column.title))) if column.flexible else width
        for column, width in zip(columns, widths, strict=True)
    ]
    if (room := _room(console)) is not None:
        for j in sorted(kept, key=lambda j: -columns[j].rank):
            if columns[j].rank and _total(least, kept) > room:
                kept.remove(j)
        for j in kept:
            if columns[j].flexible:
                spare = max(0, room - _total(least, kept))
                widths[j] = min(widths[j], least[j] + spare)
                least[j] = widths[j]
    for number, row in enumerate(cells):
        line = []
        for j in kept:
            cell, width = row[j], widths[j]
            if cell_len(cell) > width:
                cell = set_cell_size(cell, width - 1) + "…"
            space = " " * (width - cell_len(cell))
            line.append(space + cell if columns[j].right else cell + space)
        text = (" " * _GAP).join(line).rstrip()
        console.print(text, style=None if number else "bold", soft_wrap=True, markup=False)


def _told(columns: Sequence[Column], rows: list[list[str]]) -> tuple[list[Column], list[list[str]]]:
    """Return the columns that tell something, with their cells."""
    told = [j for j, column in enumerate(columns) if not column.rare or any(row[j] for row in rows)]
    return (
        [columns[j] for j in told],
        [[row[j] or ("-" if columns[j].rare else "") for j in told] for row in rows],
    )


def _room(console: Console) -> int | None:
    """Return the width to fit, None for a file or a pipe."""
    return console.width if console.is_terminal else None


def _total(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[j] for j in kept) + _GAP * (len(kept) - 1)
