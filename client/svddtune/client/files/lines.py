"""Complete lines of text, also of a file that is still being written.

Only LF, CR and CRLF end a line. The other breaks of Python's ``splitlines`` (form feeds, U+2028 and
others) are part of a line.
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
    """Turns bytes into complete lines. A line is complete once its end has arrived.

    A CR ends a line once the next character has arrived, which may be its LF. The time is linear
    in the number of bytes, whatever the pieces and the length of lines.
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
        """Bytes of the line whose end has not arrived yet."""
        undecoded, _ = self._decoder.getstate()
        return len("".join(self._rest).encode(self._encoding)) + len(undecoded)

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines that `data` completes."""
        return self._complete(self._decoded(data, final=False))

    def finish(self) -> list[Line]:
        """Return the remaining lines; no bytes may follow."""
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
