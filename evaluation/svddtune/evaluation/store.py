"""Finished pieces of work, one JSON file each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Store:
    """Records by key in a folder; a file that cannot be read counts as absent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> Record | None:
        """Return a record, None where there is none."""
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def put(self, key: str, record: Record) -> None:
        """Store a record atomically."""
        path = self._path(key)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(record, allow_nan=False), encoding="utf-8")
        partial.replace(path)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
