"""Reads a growing file of records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from svddtune.client.files.lines import Lines
from svddtune.client.files.record_parsers import Parser
from svddtune.client.files.record_reader import TICKETS_INVALID, parser_for
from svddtune.client.files.records import Record
from svddtune.client.files.source import PARQUET, STDIN, Source, TextFormat

_CHUNK = 1 << 20


class Follower:
    """Reads the additions to a CSV or JSON lines file.

    A line is read once its newline is written. A file that was replaced (rotated) is read to its
    end, then the new one from its start. A file that became shorter is read from its start. Both
    are reported to `notice`. A file that is truncated and grows past its old length between two
    readings looks like one that only grew.

    Parameters
    ----------
    notice : callable
        Called with a sentence about what happened to the file.

    Raises
    ------
    InvalidInput
        TICKETS_INVALID for Parquet and compressed files, which cannot grow, and standard input.
    """

    def __init__(
        self, path: Path, notice: Callable[[str], None], form: TextFormat | None = None
    ) -> None:
        self._source = Source(str(path), path.suffix.lower(), TICKETS_INVALID, path)
        if path == STDIN:
            raise self._source.fault("standard input cannot be followed; give the path of a file")
        if self._source.kind in (*PARQUET, ".gz"):
            what = "a compressed" if self._source.kind == ".gz" else "a Parquet"
            raise self._source.fault(f"{what} file does not grow; follow CSV or JSON lines")
        self._path = path
        self._notice = notice
        self._form = form or TextFormat()
        self._begin(path.open("rb"))

    def __enter__(self) -> Follower:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def poll(self) -> Iterator[Record]:
        """Yield the complete records that were not yielded before."""
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._notice(f"{self._path} became shorter: reading it from its start{self._left()}")
            self._file.seek(0)
            self._begin(self._file)
        yield from self._rest()
        while (following := self._successor()) is not None:
            # First the rest of the old file, written before it was replaced.
            yield from self._rest()
            self._notice(f"{self._path} was replaced: reading the new file{self._left()}")
            self._file.close()
            self._begin(following)
            yield from self._rest()

    def _begin(self, file: BinaryIO) -> None:
        self._file = file
        self._lines = Lines(self._source, self._form.encoding)
        self._parser: Parser = parser_for(self._source, self._form)

    def _rest(self) -> Iterator[Record]:
        while chunk := self._file.read(_CHUNK):
            yield from self._parser.feed(self._lines.feed(chunk))

    def _successor(self) -> BinaryIO | None:
        """Return the file now at the path; None if there is none or it is the one being read."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return None
        if os.path.sameopenfile(file.fileno(), self._file.fileno()):
            file.close()
            return None
        return file

    def _left(self) -> str:
        waiting = self._lines.waiting
        return f"; {waiting} bytes of a half-written line were left unread" if waiting else ""
