"""Lines -> records: CSV and JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import Any, Protocol

from svddtune.client.errors import InvalidInput
from svddtune.client.tickets.records import Record

_DELIMITERS = ",;\t"
# csv's own limit is 128 KiB a cell; descriptions in tickets are longer at times.
_MOST_CELL = 16 * 1024 * 1024


class Parser(Protocol):
    """Makes records of numbered lines; keeps what is not complete yet."""

    def feed(self, lines: Iterable[tuple[int, str]]) -> list[Record]:
        """Return the records that are complete with these lines."""
        ...

    def finish(self) -> None:
        """Say that no line comes any more; what is incomplete then is a fault."""
        ...


class JsonLinesParser:
    """One JSON object a line; empty lines are passed over."""

    def __init__(self, path: str) -> None:
        self._path = path

    def feed(self, lines: Iterable[tuple[int, str]]) -> list[Record]:
        """Return a record for each line."""
        return [self._record(number, text) for number, text in lines if text.strip()]

    def finish(self) -> None:
        """Nothing is kept between lines."""

    def _record(self, number: int, text: str) -> Record:
        place = f"{self._path} line {number}"
        try:
            values = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
        except RecursionError:
            raise _fault("not read: nested too deeply", place) from None
        except ValueError as error:
            if text.lstrip().startswith("["):
                hint = f"; one object a line is wanted: jq -c '.[]' {self._path}"
            elif text.strip() == "{" or (number == 1 and text.lstrip().startswith("{")):
                hint = f"; an object must stand on one line: jq -c . {self._path}"
            else:
                hint = ""
            raise _fault(f"not JSON: {_json_text(error)}{hint}", place) from None
        if not isinstance(values, dict):
            raise _fault(
                f"a JSON {_json_kind(values)} where an object is wanted; "
                f"one object a line, e.g. by: jq -c '.[]' {self._path}",
                place,
            )
        if "\\u" in text and not _is_text(values):
            raise _fault("an escape \\uD800 to \\uDFFF stands alone and is no character", place)
        return Record(values, place)


class CsvParser:
    """Comma, semicolon or tab separated, with a header; a quoted cell may span lines."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.header: list[str] | None = None
        self._delimiter = ","
        self._pending: list[str] = []
        self._since = 0

    def feed(self, lines: Iterable[tuple[int, str]]) -> list[Record]:
        """Return the records that are complete with these lines."""
        records: list[Record] = []
        for number, text in lines:
            if not self._pending:
                if not text.strip():
                    continue
                self._since = number
            self._pending.append(text)
            cells = self._cells()
            if cells is None:
                continue
            self._pending = []
            if self.header is None:
                self.header = self._checked_header(cells)
            else:
                records.append(self._record(cells))
        return records

    def finish(self) -> None:
        """Raise where a quoted cell is still open, or nothing came at all."""
        if self.header is None and not self._pending:
            raise _fault("empty, not even a header", self._path)
        if self._pending:
            raise _fault("a quote that begins here has no end", f"{self._path} line {self._since}")

    def _cells(self) -> list[str] | None:
        """Return the pending row, None where its end has not come yet."""
        if self.header is None:
            self._delimiter = max(_DELIMITERS, key=self._pending[0].count)
        text = "\n".join(self._pending)
        if '"' not in text:
            return text.split(self._delimiter)
        previous = csv.field_size_limit(_MOST_CELL)
        try:
            rows = list(csv.reader([text], delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                return None
            raise _fault(f"not CSV: {error}", f"{self._path} line {self._since}") from None
        finally:
            csv.field_size_limit(previous)
        return rows[0]

    def _checked_header(self, cells: list[str]) -> list[str]:
        names = [cell.strip() for cell in cells]
        place = f"{self._path} line {self._since}"
        first: dict[str, int] = {}
        for column, name in enumerate(names, start=1):
            if not name:
                raise _fault(f"column {column} has no name", place)
            if name in first:
                raise _fault(f"columns {first[name]} and {column} are both named {name!r}", place)
            first[name] = column
        return names

    def _record(self, cells: list[str]) -> Record:
        assert self.header is not None
        place = f"{self._path} line {self._since}"
        if len(cells) != len(self.header):
            raise _fault(f"{len(cells)} cells where the header has {len(self.header)}", place)
        return Record(dict(zip(self.header, cells, strict=True)), place, typed=False, columns=True)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"field {twice!r} is there twice")
    return values


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON value")


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
