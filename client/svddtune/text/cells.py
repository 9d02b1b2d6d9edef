"""Cells of CSV files, marked so that spreadsheets do not run them as formulas."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def formula_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: with an apostrophe where needed.

    Numbers stay as they are. `without_formula_mark` gives back exactly what was there.
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def without_formula_mark(cell: str) -> str:
    """Return what `formula_cell` was given."""
    return cell[1:] if _MARKED.match(cell) else cell
