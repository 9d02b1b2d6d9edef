"""A small disk that can be full: a filesystem of its own, where this process may mount one."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Room for the data of many sessions and for a rewrite of the store's file. What fills it is memory.
SIZE_MIB = 256


class SmallDisk:
    """A filesystem of fixed size that is mounted at a folder until it is closed."""

    def __init__(self, folder: Path) -> None:
        """Mount it. Raises OSError where this process may not."""
        self._folder = folder
        options = f"size={SIZE_MIB}m,mode=700"
        _run("mount", "-t", "tmpfs", "-o", options, "svddtune-chaos", str(folder))

    @contextmanager
    def full(self) -> Iterator[None]:
        """Leave no free page on it."""
        filler = self._folder / "filler"
        try:
            with filler.open("wb") as file:
                self._fill(file.fileno())
                yield
        finally:
            filler.unlink(missing_ok=True)

    def _fill(self, file: int) -> None:
        size = 0
        while free := self._free_bytes():
            # (What the server has taken meanwhile is missing: then less is asked for.)
            with contextlib.suppress(OSError):
                os.posix_fallocate(file, size, free)
                size += free

    def _free_bytes(self) -> int:
        found = os.statvfs(self._folder)
        return found.f_bavail * found.f_frsize

    def close(self) -> None:
        """Unmount it; its data are gone."""
        _run("umount", "--lazy", str(self._folder))


def small_disk(folder: Path) -> SmallDisk | None:
    """A small disk at a new folder; None where this process may not mount."""
    if not sys.platform.startswith("linux"):
        return None
    folder.mkdir()
    try:
        return SmallDisk(folder)
    except OSError:
        return None


def _run(*command: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise OSError(ran.stderr)
