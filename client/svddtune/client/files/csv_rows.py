"""Parses lines of CSV into rows of cells, in time linear in the text.

Python's csv module ends a row at a stray CR, has one limit of a cell's length for all threads, and
reads a long cell again for each line where it is fed line by line. pyarrow's reader accepts a quote
without an end, drops all but one column of the same name, and reports no line. So this module
has a parser of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from svddtune.client.files.lines import Line, without_end
from svddtune.client.files.numbers import BLANKS, has_decimal_comma

DELIMITERS = (",", ";", "\t", "|")
BLANK = " "
"""The delimiter that stands for any number of spaces and tabs."""
_SAMPLE = 50
_BLANK_CELL = re.compile(r'"(?:[^"]|"")*"(?=[ \t]|$)|[^" \t][^ \t]*')


class RowFault(ValueError):
    """A line that is not valid CSV; `line` is its number, 0 where it is not known."""

    def __init__(self, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.text = text
        self.line = line


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, and the line in which it begins."""

    cells: list[str]
    line: int


class Splitter:
    """Splits rows into cells, line by line; a quoted cell may span lines.

    Cells are kept as written: blanks around an unquoted cell belong to it. A quote opens a quoted
    cell only at the start of the cell, after blanks; elsewhere it is an ordinary character.
    """

    __slots__ = ("_blanks", "_cells", "_delimiter", "_inside", "_pieces", "_quote")

    def __init__(self, delimiter: str, quote: str = '"') -> None:
        self._delimiter = delimiter
        self._quote = quote
        self._blanks = BLANKS.replace(delimiter, "")
        self._inside = False
        self._cells: list[str] = []
        self._pieces: list[str] = []

    @property
    def open(self) -> bool:
        """Whether a quoted cell continues."""
        return self._inside

    def feed(self, line: str) -> list[str] | None:
        """Return the cells of the row that ends with a line; None where the row continues.

        Raises
        ------
        RowFault
            Where more than blanks follow a closing quote.
        """
        body = without_end(line)
        if self._delimiter == BLANK:
            return self._split_at_blanks(body)
        if not self._inside:
            if self._quote not in body:
                return body.split(self._delimiter)
            self._cells = []
        position = 0
        while True:
            if not self._inside:
                begin = self._after_blanks(body, position)
                if body[begin : begin + 1] != self._quote:
                    end = body.find(self._delimiter, position)
                    self._cells.append(body[position:] if end < 0 else body[position:end])
                    if end < 0:
                        return self._cells
                    position = end + 1
                    continue
                self._inside, self._pieces, position = True, [], begin + 1
            end = line.find(self._quote, position)
            if end < 0:
                self._pieces.append(line[position:])
                return None
            if line[end + 1 : end + 2] == self._quote:
                self._pieces.append(line[position : end + 1])
                position = end + 2
                continue
            self._pieces.append(line[position:end])
            self._cells.append("".join(self._pieces))
            self._inside = False
            position = self._after_blanks(body, end + 1)
            if position >= len(body):
                return self._cells
            if body[position] != self._delimiter:
                raise RowFault(
                    f"not CSV: {self._delimiter!r} expected after {self._quote!r}, not "
                    f"{body[position]!r}; write a quote inside a quoted cell twice"
                )
            position += 1

    def _after_blanks(self, text: str, position: int) -> int:
        while position < len(text) and text[position] in self._blanks:
            position += 1
        return position

    def _split_at_blanks(self, body: str) -> list[str]:
        if self._quote not in body:
            return [cell for cell in body.replace("\t", BLANK).split(BLANK) if cell]
        cells, position = [], 0
        while (position := self._after_blanks(body, position)) < len(body):
            cell = _BLANK_CELL.match(body, position)
            if cell is None:
                raise RowFault("a quote that begins here is not closed on its line")
            text = cell.group()
            quoted = text.startswith(self._quote)
            cells.append(text[1:-1].replace('""', '"') if quoted else text)
            position = cell.end()
        return cells


class CsvRows:
    """Turns numbered lines into complete rows. Empty lines are skipped.

    Parameters
    ----------
    delimiter : str
        Empty: guessed from the lines available once the first row is complete.
    """

    def __init__(self, delimiter: str = "", quote: str = '"') -> None:
        self._quote = quote
        self._splitter = Splitter(delimiter, quote) if delimiter else None
        self._sample: list[Line] = []
        self._since = 0
        self._one_column: bool | None = None

    def feed(self, lines: Iterable[Line]) -> list[Row]:
        """Return the rows that are complete with these lines.

        Raises
        ------
        RowFault
            With the line in which the faulty row begins.
        """
        if self._splitter is not None:
            return self._rows(lines)
        lines = iter(lines)
        for line in lines:
            if not self._sample and not without_end(line[1]).strip(BLANKS):
                continue
            self._sample.append(line)
            if len(self._sample) == _SAMPLE:
                break
        return self._begin(lines, wait=len(self._sample) < _SAMPLE)

    def finish(self) -> list[Row]:
        """Return the remaining rows; no lines may follow.

        Raises
        ------
        RowFault
            Where a quoted cell has no end.
        """
        rows = self._begin((), wait=False) if self._splitter is None else []
        if self._splitter is not None and self._splitter.open:
            raise RowFault("a quote that begins here is not closed", self._since)
        return rows

    def _begin(self, further: Iterable[Line], *, wait: bool) -> list[Row]:
        if not self._sample:
            return []
        delimiter = guessed_delimiter([text for _, text in self._sample], self._quote, wait=wait)
        if delimiter is None:
            return []
        self._splitter = Splitter(delimiter, self._quote)
        sample, self._sample = self._sample, []
        return [*self._rows(sample), *self._rows(further)]

    def _rows(self, lines: Iterable[Line]) -> list[Row]:
        assert self._splitter is not None
        rows: list[Row] = []
        for number, text in lines:
            if not self._splitter.open:
                if self._is_empty(without_end(text)):
                    continue
                self._since = number
            try:
                cells = self._splitter.feed(text)
            except RowFault as fault:
                raise RowFault(fault.text, self._since) from None
            if cells is not None:
                if self._one_column is None:
                    self._one_column = len(cells) == 1
                rows.append(Row(cells, self._since))
        return rows

    def _is_empty(self, text: str) -> bool:
        # In a table of one column a cell may be blank.
        return not (text if self._one_column else text.strip(BLANKS))


def guessed_delimiter(lines: Sequence[str], quote: str = '"', *, wait: bool = False) -> str | None:
    """Return the delimiter guessed from the first lines; delimiters in quotes do not count.

    Parameters
    ----------
    lines : sequence of str
        First lines of the text.
    quote : str
        Sign that encloses cells; default a double quote.
    wait : bool
        Whether more lines may come: None is returned then as long as the first row has no end.
    """
    tried = {delimiter: _Trial.of(lines, delimiter, quote) for delimiter in DELIMITERS}
    if wait and any(trial.rows == 0 and not trial.fault for trial in tried.values()):
        return None
    best = max(DELIMITERS, key=lambda delimiter: tried[delimiter].rank)
    if tried[best].width <= 1:
        blank = _Trial.of(lines, BLANK, quote)
        return BLANK if blank.width > 1 and not blank.fault else ","
    if best == "," and tried[";"].regular and tried[";"].has_decimal_commas:
        return ";"
    return best


@dataclass(frozen=True, slots=True)
class _Trial:
    """The first lines, split at one delimiter."""

    rows: int
    width: int
    regular: bool
    fault: bool
    has_decimal_commas: bool
    share: float

    @property
    def rank(self) -> tuple[bool, bool, float, int]:
        return not self.fault, self.width > 1, self.share, self.width

    @classmethod
    def of(cls, lines: Sequence[str], delimiter: str, quote: str) -> _Trial:
        splitter, widths, commas, fault = Splitter(delimiter, quote), list[int](), False, False
        for line in lines:
            if not splitter.open and not without_end(line).strip(BLANKS):
                continue
            try:
                cells = splitter.feed(line)
            except RowFault:
                fault = True
                break
            if cells is not None:
                widths.append(len(cells))
                commas = commas or any(map(has_decimal_comma, cells))
        width = widths[0] if widths else 0
        share = widths.count(width) / len(widths) if widths else 0.0
        return cls(
            rows=len(widths),
            width=width,
            regular=width > 1 and share == 1.0 and not fault,
            fault=fault,
            has_decimal_commas=commas,
            share=share,
        )
