"""Writes a file completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for bytes that replaces `path` when the block ends without an error.

    Parameters
    ----------
    path : path
        The file; folders that are missing are made.

    Raises
    ------
    OSError
        It cannot be written.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        # (Whoever wrote may have closed the file.)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.chmod(0o644)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
