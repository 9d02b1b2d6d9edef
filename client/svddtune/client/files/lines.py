"""Text as complete lines, of a file that may still be written to.

Only LF, CR and CRLF end a line. What else Python's ``splitlines`` breaks at (form feeds, U+2028 and
others) is part of a line.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import StringIO

from svddtune.client.files.source import Source

Line = tuple[int, str]
"""A line's number, counted from 1 as editors do, and its text with its end."""


def text_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a whole text."""
    return enumerate(StringIO(text, newline=""), start=1)


def without_end(line: str) -> str:
    """Return a line without its end."""
    return line.removesuffix("\n").removesuffix("\r")


class Lines:
    """Bytes in, complete lines out. A line is complete once its end is there.

    A CR counts once the next character is there, which may be its LF. The work is linear in the
    bytes, however they are cut and however long a line is.
    """

    def __init__(self, source: Source, encoding: str = "utf-8") -> None:
        self._source = source
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest: list[str] = []
        self._count = 0
        self._begun = False

    @property
    def waiting(self) -> int:
        """Bytes of a line whose end has not come yet."""
        undecoded, _ = self._decoder.getstate()
        return len("".join(self._rest).encode(self._encoding)) + len(undecoded)

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines that `data` completes."""
        return self._complete(self._decoded(data, final=False))

    def finish(self) -> list[Line]:
        """Return the lines that are left; nothing comes after them."""
        lines = self._complete(self._decoded(b"", final=True))
        rest, self._rest = "".join(self._rest), []
        return lines + [self._numbered(line) for line in StringIO(rest, newline="")]

    def _decoded(self, data: bytes, *, final: bool) -> str:
        if not self._begun and data:
            self._source.check_is_text(data, self._encoding)
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            decoded = error.object[: error.start].decode(self._encoding, errors="replace")
            before = "".join(self._rest) + decoded
            raise self._source.undecodable(error, before, self._encoding, self._count) from None
        if text and not self._begun:
            self._begun = True
            text = text.removeprefix("\ufeff")
        return text

    def _complete(self, text: str) -> list[Line]:
        ends_in_cr = bool(self._rest) and self._rest[-1].endswith("\r")
        if not text or not (ends_in_cr or "\n" in text or "\r" in text):
            self._rest += [text] if text else []
            return []
        lines = list(StringIO("".join(self._rest) + text, newline=""))
        # A last CR may be half of a CRLF.
        self._rest = [] if lines[-1].endswith("\n") else [lines.pop()]
        return [self._numbered(line) for line in lines]

    def _numbered(self, line: str) -> Line:
        self._count += 1
        if "\0" in line:
            raise self._source.has_nul(self._count)
        return self._count, line
