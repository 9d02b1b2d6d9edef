"""Files -> records, in one go: CSV, JSON lines, Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.extras import needs_extra
from svddtune.client.tickets.lines import Lines
from svddtune.client.tickets.parsers import CsvParser, JsonLinesParser, Parser
from svddtune.client.tickets.records import Record

_CHUNK = 1 << 20
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv", ".txt")


def parser_for(path: Path) -> Parser:
    """Return the parser for a text file by its ending.

    Raises
    ------
    InvalidInput
        TICKETS_INVALID for an ending that is not known, and for Parquet, which is no text.
    """
    kind = path.suffix.lower()
    if kind in _JSON:
        return JsonLinesParser(str(path))
    if kind in _CSV:
        return CsvParser(str(path))
    raise InvalidInput(
        f"{path}: the ending {kind!r} is not known; name it .csv, .jsonl or .parquet",
        reason="TICKETS_INVALID",
        metadata={"path": str(path)},
    )


def is_parquet(path: Path) -> bool:
    """Return whether the file is one of columns, which has no lines to follow."""
    return path.suffix.lower() in _PARQUET


def read_records(path: Path) -> Iterator[Record]:
    """Yield all records of a file.

    The last line may lack its newline; a line that is broken is a fault, the last one too.

    Raises
    ------
    InvalidInput
        TICKETS_INVALID, with path and line (or row) of the first fault.
    """
    if is_parquet(path):
        yield from _read_parquet(path)
        return
    lines, parser = Lines(str(path)), parser_for(path)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield from parser.feed(lines.feed(chunk))
    yield from parser.feed(lines.finish())
    parser.finish()


def _read_parquet(path: Path) -> Iterator[Record]:
    with needs_extra("parquet", "Reading Parquet"):
        import pyarrow
        from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        names = [str(name) for name in file.schema_arrow.names]
        for name in names:
            if names.count(name) > 1:
                raise InvalidInput(
                    f"{path}: two columns are named {name!r}", reason="TICKETS_INVALID"
                )
        row = 0
        for batch in file.iter_batches(batch_size=8192):
            for values in _microseconds(batch).to_pylist():
                yield Record(values, f"{path} row {row}", columns=True)
                row += 1
    except pyarrow.ArrowException as error:
        raise InvalidInput(
            f"{path} is not a readable Parquet file: {' '.join(str(error).split())}",
            reason="TICKETS_INVALID",
            metadata={"path": str(path)},
        ) from None


def _microseconds(batch: Any) -> Any:
    """Return a batch whose times are no finer than Python's."""
    import pyarrow

    schema = batch.schema
    for column, field in enumerate(schema):
        if pyarrow.types.is_timestamp(field.type) and field.type.unit == "ns":
            coarse = pyarrow.timestamp("us", tz=field.type.tz)
            schema = schema.set(column, field.with_type(coarse))
    return batch.cast(schema, safe=False)
