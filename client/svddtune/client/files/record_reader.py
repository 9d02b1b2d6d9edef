"""Reads whole files of records: CSV, JSON lines, Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from svddtune.client.files.lines import Lines
from svddtune.client.files.parquet import parquet_rows
from svddtune.client.files.record_parsers import CsvParser, JsonLinesParser, Parser
from svddtune.client.files.records import Record
from svddtune.client.files.source import CSV, JSON_LINES, PARQUET, Source, TextFormat

TICKETS_INVALID = "TICKETS_INVALID"


def parser_for(source: Source, form: TextFormat) -> Parser:
    """Return the parser for a text file by its ending.

    Raises
    ------
    InvalidInput
        The source's reason for an unknown ending, and for Parquet, which is no text file.
    """
    if source.kind in JSON_LINES:
        return JsonLinesParser(source.name)
    if source.kind in CSV:
        return CsvParser(source.name, form.delimiter or ("\t" if source.kind == ".tsv" else ""))
    raise source.fault(
        f"the file ending {source.kind!r} is not supported; use .csv, .jsonl or .parquet"
    )


def read_records(path: Path, form: TextFormat | None = None) -> Iterator[Record]:
    """Yield all records of a file.

    The last line may lack its newline. An incomplete line is an error.

    Parameters
    ----------
    path : Path
        Compressed with gzip or not; "-" is standard input.
    form : TextFormat, optional
        Encoding and delimiter of a text file.

    Raises
    ------
    InvalidInput
        TICKETS_INVALID, with path and line (or row) of the first fault.
    """
    source, form = Source.of(path, TICKETS_INVALID), form or TextFormat()
    if source.kind in PARQUET:
        for row, values in enumerate(parquet_rows(source)):
            yield Record(values, f"{source.name} row {row}", columns=True)
        return
    lines, parser = Lines(source, form.encoding), parser_for(source, form)
    for chunk in source.chunks():
        yield from parser.feed(lines.feed(chunk))
    yield from parser.feed(lines.finish())
    yield from parser.finish()
