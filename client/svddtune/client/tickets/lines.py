"""Text files as complete lines, of a file that may still be written to."""

from __future__ import annotations

from svddtune.client.errors import InvalidInput

_BOM = b"\xef\xbb\xbf"


class Lines:
    """Bytes in, complete lines out. A line is complete once its newline is there.

    Lines are counted from 1, as editors do.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._rest = b""
        self._count = 0

    @property
    def waiting(self) -> int:
        """Bytes of a line whose end has not come yet."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[tuple[int, str]]:
        """Return the lines that `data` completes, with their numbers, without line ends."""
        *complete, self._rest = (self._rest + data).split(b"\n")
        return [self._decode(line) for line in complete]

    def finish(self) -> list[tuple[int, str]]:
        """Return the last line, where it has no newline; nothing comes after it."""
        rest, self._rest = self._rest, b""
        return [self._decode(rest)] if rest else []

    def _decode(self, line: bytes) -> tuple[int, str]:
        self._count += 1
        if self._count == 1:
            line = line.removeprefix(_BOM)
        try:
            return self._count, line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{self.path} line {self._count}: not UTF-8 text: {error.reason} at byte "
                f"{error.start} of the line (0x{line[error.start]:02x}); export it as UTF-8",
                reason="TICKETS_INVALID",
                metadata={"path": self.path, "line": str(self._count)},
            ) from None
