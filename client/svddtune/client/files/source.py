"""Sources of bytes: a file, a compressed file, or standard input."""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from svddtune.client.errors import InvalidInput

STDIN = Path("-")
CSV = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
NPZ, NPY, ARFF = ".npz", ".npy", ".arff"
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_MAGIC = ((b"PAR1", ".parquet"), (b"PK\x03\x04", NPZ), (b"\x93NUMPY", NPY))
_NOT_READ = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook: unpack it, or export it as CSV"),
    (b"BZh", "compressed with bzip2: unpack it; only .gz can be read compressed"),
    (b"\xfd7zXZ\x00", "compressed with xz: unpack it; only .gz can be read compressed"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it; only .gz can be read compressed"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook: export it as CSV"),
    (b"PAR1", "a Parquet file: name it .parquet"),
    (b"\x93NUMPY", "a NumPy file: name it .npy"),
)


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text file is written.

    Attributes
    ----------
    encoding : str
        A codec's name; UTF-8 with or without its mark by default.
    decimal : str
        "." or ",": what stands before the decimals of numbers.
    delimiter : str
        Between the cells of CSV; told from the first lines where it is empty.
    """

    encoding: str = "utf-8"
    decimal: str = "."
    delimiter: str = ""

    def __post_init__(self) -> None:
        try:
            codec = codecs.lookup(self.encoding)
            "".encode(codec.name)
        except (LookupError, ValueError):
            raise InvalidInput(
                f"{self.encoding!r} is not a text encoding; use a name such as utf-8, cp1252, "
                "latin-1 or utf-16",
                reason="ENCODING_UNKNOWN",
                metadata={"encoding": self.encoding},
            ) from None
        if self.decimal not in (".", ","):
            raise InvalidInput(
                f"{self.decimal!r} is not a decimal separator; use . or ,",
                reason="DECIMAL_UNKNOWN",
                metadata={"decimal": self.decimal},
            )


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, or standard input.

    Attributes
    ----------
    name : str
        As people know it.
    kind : str
        The ending in lower case, without ``.gz``; of standard input what its content shows.
    reason : str
        Reason of the errors for what is wrong with the file.
    """

    name: str
    kind: str
    reason: str
    path: Path | None = None
    data: bytes = b""

    @classmethod
    def of(cls, path: Path, reason: str = "INVALID_FIELD") -> Source:
        """Return the source for a path; "-" is standard input, which is read to its end."""
        if path == STDIN:
            data = sys.stdin.buffer.read()
            source = cls("standard input", "", reason, data=data)
            return replace(source, kind=source._sniffed())
        ending = Path(path.stem) if path.suffix.lower() == ".gz" else path
        return cls(str(path), ending.suffix.lower(), reason, path=path)

    def fault(self, text: str, *, line: int | None = None, **metadata: str) -> InvalidInput:
        """Return the error for a fault, in a line where one is given."""
        where = {"path": self.name} | ({} if line is None else {"line": str(line)})
        place = self.name if line is None else f"{self.name} line {line}"
        return InvalidInput(f"{place}: {text}", reason=self.reason, metadata=where | metadata)

    def chunks(self, size: int = _CHUNK) -> Iterator[bytes]:
        """Yield the content, unpacked where it is compressed."""
        try:
            with self._raw() as raw, self._unpacked(raw) as file:
                while chunk := file.read(size):
                    yield chunk
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self.fault(f"not a readable gzip file: {error}") from None

    def read(self) -> bytes:
        """Return the whole content, unpacked where it is compressed."""
        return b"".join(self.chunks())

    def text(self, encoding: str = "utf-8") -> str:
        """Return the whole content as text.

        Raises
        ------
        InvalidInput
            `reason`, with the line of what is not in the encoding, and for NUL characters.
        """
        data = self.read()
        self.check_is_text(data, encoding)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise self.undecodable(error, data[: error.start].decode(encoding), encoding) from None
        if "\0" in text:
            raise self.has_nul(_line_of(text[: text.index("\0")]))
        return text.removeprefix("\ufeff")

    def check_is_text(self, data: bytes, encoding: str) -> None:
        """Raise where the first bytes are not those of a text in the encoding."""
        for magic, what in _NOT_READ:
            if data.startswith(magic):
                raise self.fault(f"this is {what}")
        marks = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig") and data.startswith(marks):
            name = "utf-32" if data.startswith(marks[:2]) else "utf-16"
            raise self.fault(
                f"this is {name.upper()} text: give --encoding {name}, or export it as UTF-8",
                encoding=name,
            )

    def undecodable(
        self, error: UnicodeDecodeError, before: str, encoding: str, lines: int = 0
    ) -> InvalidInput:
        """Return the error for bytes that are no text; `before` is what was decoded until there.

        Parameters
        ----------
        error : UnicodeDecodeError
            What the decoder raised.
        before : str
            Text that was decoded before the error.
        encoding : str
            Name of the encoding.
        lines : int
            Lines that were complete before `before`.
        """
        start = max(before.rfind("\n"), before.rfind("\r")) + 1
        column = len(before[start:].encode(encoding, errors="replace"))
        name = "UTF-8" if codecs.lookup(encoding).name == "utf-8" else encoding
        hint = "give its encoding with --encoding NAME, or export it as UTF-8"
        return self.fault(
            f"not {name} text: {error.reason} at byte {column} of the line "
            f"(0x{error.object[error.start]:02x}); {hint}",
            line=lines + _line_of(before),
        )

    def has_nul(self, line: int) -> InvalidInput:
        """Return the error for a NUL character."""
        return self.fault(
            "contains a NUL character, so it is not text in this encoding; try another one, such "
            "as --encoding utf-16-le",
            line=line,
        )

    def _raw(self) -> BinaryIO:
        return BytesIO(self.data) if self.path is None else self.path.open("rb")

    def _unpacked(self, raw: BinaryIO) -> BinaryIO:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if packed or (self.path is not None and self.path.suffix.lower() == ".gz"):
            return gzip.open(raw)  # type: ignore[return-value]
        return raw

    def _sniffed(self) -> str:
        head = next(self.chunks(_CHUNK), b"")
        for magic, kind in _MAGIC:
            if head.startswith(magic):
                return kind
        text = head.lstrip(codecs.BOM_UTF8 + b" \t\r\n")
        if text[:1] in (b"{", b"["):
            return ".jsonl"
        if text[:1] in (b"%", b"@") and b"@relation" in text.lower():
            return ARFF
        return ".csv"


def _line_of(before: str) -> int:
    """Return the number of the line that begins or goes on after a text."""
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")
