"""Parsers from lines to records: CSV and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol

from svddtune.client.errors import InvalidInput
from svddtune.client.files.csv_rows import CsvRows, Row, RowFault
from svddtune.client.files.lines import Line, without_end
from svddtune.client.files.numbers import BLANKS
from svddtune.client.files.records import Record


class Parser(Protocol):
    """Turns numbered lines into records; keeps incomplete ones for the next call."""

    def feed(self, lines: Iterable[Line]) -> list[Record]:
        """Return the records that are complete with these lines."""
        ...

    def finish(self) -> list[Record]:
        """Return the remaining records; InvalidInput for an incomplete one."""
        ...


class JsonLinesParser:
    """One JSON object per line; empty lines are skipped."""

    def __init__(self, path: str) -> None:
        self._path = path

    def feed(self, lines: Iterable[Line]) -> list[Record]:
        """Return a record for each line."""
        return [self._record(number, without_end(text)) for number, text in lines if text.strip()]

    def finish(self) -> list[Record]:
        """Return no records: none are kept between lines."""
        return []

    def _record(self, number: int, text: str) -> Record:
        place = f"{self._path} line {number}"
        try:
            values = json.loads(
                text,
                object_pairs_hook=_object,
                parse_constant=_no_constant,
                # Exact, since doubles round long numbers and turn large ones into infinity.
                parse_float=Decimal,
            )
        except RecursionError:
            raise _fault("not read: nested too deeply", place) from None
        except ValueError as error:
            if text.lstrip().startswith("["):
                hint = f"; write one object per line, e.g. with: jq -c '.[]' {self._path}"
            elif text.strip() == "{" or (number == 1 and text.lstrip().startswith("{")):
                hint = f"; write each object on one line, e.g. with: jq -c . {self._path}"
            else:
                hint = ""
            raise _fault(f"not JSON: {_json_text(error)}{hint}", place) from None
        if not isinstance(values, dict):
            raise _fault(
                f"a JSON {_json_kind(values)}, not an object; write one object per line, e.g. "
                f"with: jq -c '.[]' {self._path}",
                place,
            )
        if "\\u" in text and not _is_text(values):
            raise _fault(
                "an escape \\uD800 to \\uDFFF without its partner is not a character", place
            )
        return Record(values, place)


class CsvParser:
    """CSV with a header; a quoted cell may span lines."""

    def __init__(self, path: str, delimiter: str = "") -> None:
        self._path = path
        self._header: list[str] | None = None
        self._rows = CsvRows(delimiter)

    def feed(self, lines: Iterable[Line]) -> list[Record]:
        """Return the records that are complete with these lines."""
        try:
            return self._records(self._rows.feed(lines))
        except RowFault as fault:
            raise self._fault(fault) from None

    def finish(self) -> list[Record]:
        """Return the remaining records; InvalidInput for an open quote or an empty file."""
        try:
            records = self._records(self._rows.finish())
        except RowFault as fault:
            raise self._fault(fault) from None
        if self._header is None:
            raise _fault("the file is empty; it needs a header", self._path)
        return records

    def _fault(self, fault: RowFault) -> InvalidInput:
        return _fault(fault.text, f"{self._path} line {fault.line}")

    def _records(self, rows: Iterable[Row]) -> list[Record]:
        records: list[Record] = []
        for row in rows:
            place = f"{self._path} line {row.line}"
            if self._header is None:
                self._header = _checked_header(row.cells, place)
                continue
            if len(row.cells) != len(self._header):
                count = len(self._header)
                raise _fault(f"{len(row.cells)} cells, but the header has {count}", place)
            values = dict(zip(self._header, row.cells, strict=True))
            records.append(Record(values, place, typed=False, columns=True))
        return records


def _checked_header(cells: list[str], place: str) -> list[str]:
    names = [cell.strip(BLANKS) for cell in cells]
    first: dict[str, int] = {}
    for column, name in enumerate(names, start=1):
        if not name and column > 1:
            raise _fault(f"column {column} has no name", place)
        if name in first:
            raise _fault(f"columns {first[name]} and {column} are both named {name!r}", place)
        first[name] = column
    return names


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"field {twice!r} occurs twice")
    return values


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _is_text(values: Any) -> bool:
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _json_text(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return str(error)


def _json_kind(value: object) -> str:
    if isinstance(value, list):
        return "list"
    if isinstance(value, str):
        return "text"
    return "null" if value is None else "value"


def _fault(text: str, place: str) -> InvalidInput:
    return InvalidInput(f"{place}: {text}", reason="TICKETS_INVALID", metadata={"place": place})
