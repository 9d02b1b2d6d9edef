"""The file of a backup: a ZIP archive of keys with a manifest; docs/backup.md describes it."""

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgpack

import svddtune
from svddtune.client.errors import InvalidInput
from svddtune.state import keys

FORMAT = "svddtune backup"
VERSION = 1
_MANIFEST = "manifest.json"
# Times in an archive begin here; the manifest has the real one.
_DATE = (1980, 1, 1, 0, 0, 0)


class Writer:
    """Adds entries to the file of a backup."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._sha256: dict[str, str] = {}

    def add(self, name: str, value: Any) -> None:
        """Add a value of bytes, numbers, texts, lists and maps."""
        content = msgpack.packb(value, use_bin_type=True)
        self._put(name, content)
        self._sha256[name] = hashlib.sha256(content).hexdigest()

    def finish(self, contents: dict[str, Any], layout: int) -> None:
        """Add the manifest, which comes last. ``layout``: of the data."""
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "layout": layout,
            "made_by": svddtune.__version__,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            **contents,
            "sha256": self._sha256,
        }
        self._put(_MANIFEST, json.dumps(manifest, indent=1).encode())

    def _put(self, name: str, content: bytes) -> None:
        entry = zipfile.ZipInfo(name, _DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o600 << 16
        self._archive.writestr(entry, content, compresslevel=1)


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """Write a backup: the file is there once the body has ended without an error, or as before."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.", reason="FILE_NOT_WRITABLE"
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
                yield Writer(archive)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.", reason="FILE_NOT_WRITABLE"
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)


class Reader:
    """Reads the file of a backup. Each entry is compared with its checksum."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        """Raises InvalidInput (``BACKUP_DAMAGED``, ``BACKUP_UNKNOWN``)."""
        self._path = path
        self._archive = archive
        try:
            manifest = json.loads(archive.read(_MANIFEST))
            known = manifest["format"] == FORMAT
            version, layout = manifest["version"], manifest["layout"]
            self._sha256: dict[str, str] = manifest["sha256"]
            self.sessions: dict[str, list[str]] = manifest["sessions"]
            self.datasets: dict[str, list[str]] = manifest["datasets"]
            self.models: list[str] = manifest["models"]
        except (KeyError, TypeError, ValueError, zipfile.BadZipFile, OSError) as error:
            raise self._damaged("its manifest cannot be read") from error
        known_layouts = range(keys.OLDEST_LAYOUT, keys.LAYOUT_VERSION + 1)
        if not known or version != VERSION or layout not in known_layouts:
            raise InvalidInput(
                f"{path} is of format {manifest['format']} {version} with layout {layout}; this "
                f"version restores {FORMAT} {VERSION} with layouts {known_layouts[0]} to "
                f"{known_layouts[-1]}. Restore "
                f"it with svddtune {manifest.get('made_by', '')}.",
                reason="BACKUP_UNKNOWN",
            )
        self.made_at = str(manifest.get("made_at", ""))

    def get(self, name: str) -> Any:
        """The value of an entry. Raises InvalidInput (``BACKUP_DAMAGED``)."""
        try:
            content = self._archive.read(name)
        except (KeyError, zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
            raise self._damaged(f"entry {name} cannot be read") from error
        except Exception as error:
            # (zlib names its own error; a damaged entry may meet any decompressor.)
            raise self._damaged(f"entry {name} cannot be read") from error
        if hashlib.sha256(content).hexdigest() != self._sha256.get(name):
            raise self._damaged(f"entry {name} is not what was written")
        return msgpack.unpackb(content, raw=False, strict_map_key=False)

    def check(self) -> None:
        """Compare all entries with their checksums. Raises InvalidInput (``BACKUP_DAMAGED``)."""
        for name in self._sha256:
            self.get(name)

    def _damaged(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"{self._path} is damaged: {what}. Use another backup.", reason="BACKUP_DAMAGED"
        )


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Read a backup. Raises InvalidInput where the file is none, or is damaged."""
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidInput(
            f"{path} cannot be read as a backup: {error}.", reason="BACKUP_DAMAGED"
        ) from error
    with archive:
        yield Reader(path, archive)
