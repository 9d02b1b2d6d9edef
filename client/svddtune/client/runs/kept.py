"""Runs of `tune` with their own service, each in its own folder until the run is over.

::

    run.json      what the run is; written last, so a folder without it is none
    X.npy         its rows
    data.json     their ids, names and display fields
    answers       how many answers are stored by now
    lock          held by the process whose run it is
    store/        the data of its service

The labels are in `store`, which the service syncs to disk before it acknowledges an answer.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_state_path

from svddtune.client.errors import Conflict, InvalidInput, NotFound, Unavailable
from svddtune.client.types import FloatArray

log = logging.getLogger(__name__)

_FORMAT = 1
_RUN, _ROWS, _TEXTS, _ANSWERS, _LOCK = "run.json", "X.npy", "data.json", "answers", "lock"
_STORE = "store"
# Interrupted runs are removed after this age; the oldest first where all exceed this size.
KEEP_DAYS = 30.0
KEEP_BYTES = 4 << 30
_DAY_S = 86_400.0
# Until it is complete a folder has no run.json.
_MAKING_S = 3600.0
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class RunData:
    """The data of a run: rows, ids, names and display fields."""

    X: FloatArray
    ids: Sequence[str] | None
    feature_names: Sequence[str]
    display: Sequence[Mapping[str, str]]

    @property
    def observation_ids(self) -> list[str]:
        """The ids; row numbers where none were given."""
        return [str(row) for row in range(len(self.X))] if self.ids is None else list(self.ids)


@dataclass(frozen=True, slots=True)
class Summary:
    """A kept run. `answers` is None where the run ended before labelling."""

    name: str
    folder: Path
    title: str
    created: datetime
    answers: int | None
    budget: int
    running: bool
    bytes: int


class KeptRun:
    """A run's folder, held by this process until `close` or `remove`."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock = lock
        self.description: dict[str, Any] = json.loads((folder / _RUN).read_text())
        if self.description.get("format") != _FORMAT:
            self.close()
            raise InvalidInput(
                f"{folder} was written by another version of svddtune (format "
                f"{self.description.get('format')}; this version reads {_FORMAT}); continue the "
                f"run with that version",
                reason="RUN_FORMAT_UNKNOWN",
                metadata={"run": str(folder)},
            )

    @classmethod
    def create(
        cls,
        data: RunData,
        options: Mapping[str, Any],
        *,
        title: str,
        storage: str | os.PathLike[str] | None = None,
    ) -> KeptRun:
        """Make a run's folder: `storage` itself where given, else a new one in the state folder.

        Raises
        ------
        Conflict
            STORAGE_HOLDS_RUN where `storage` holds a run already.
        Unavailable
            STORAGE_UNUSABLE where it cannot be written.
        """
        if storage is None:
            folder = new_folder(title)
        else:
            folder = Path(storage).expanduser().resolve()
            if (folder / _RUN).exists():
                raise Conflict(
                    f"{folder} already holds a run: continue it with resume={str(folder)!r}, or "
                    f"name another folder",
                    reason="STORAGE_HOLDS_RUN",
                    metadata={"storage": str(folder)},
                )
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _acquire(folder)
            try:
                _write_data(folder, data)
                description = {
                    "format": _FORMAT,
                    "title": title,
                    "created": datetime.now().astimezone().isoformat(timespec="seconds"),
                    "keep": storage is not None,
                    # With this token a resumed run gets its labeler's leases again at once.
                    "token": uuid.uuid4().hex,
                    "options": dict(options),
                }
                _write(folder / _RUN, json.dumps(description, indent=1, allow_nan=False))
                return cls(folder, lock)
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise Unavailable(
                f"The run cannot be kept in {folder}: {error.strerror or error}",
                reason="STORAGE_UNUSABLE",
                metadata={"storage": str(folder)},
            ) from error

    @classmethod
    def open(cls, which: str | os.PathLike[str]) -> KeptRun:
        """Take over a run by its folder, its name, or the start of its name.

        Raises
        ------
        NotFound
            RUN_NOT_FOUND; the message names the kept runs.
        InvalidInput
            RUN_AMBIGUOUS where several names have this start.
        Conflict
            RUN_IN_USE while another process holds it.
        """
        folder = _find(which)
        return cls(folder, _acquire(folder))

    @property
    def name(self) -> str:
        """The argument of `open`: its name, or its folder where that is not in the state folder."""
        return self.folder.name if self.folder.parent == runs_folder() else str(self.folder)

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that the run was started with."""
        return dict(self.description["options"])

    @property
    def token(self) -> str:
        """Resume token of the dialogue of the run's labeler."""
        return str(self.description["token"])

    @property
    def store(self) -> Path:
        """Data folder of the run's service."""
        return self.folder / _STORE

    @property
    def keep(self) -> bool:
        """Whether the folder was named by the caller, and stays."""
        return bool(self.description["keep"])

    def data(self) -> RunData:
        """Read the run's data."""
        texts = json.loads((self.folder / _TEXTS).read_text())
        return RunData(
            X=np.load(self.folder / _ROWS, allow_pickle=False),
            ids=texts["ids"],
            feature_names=texts["feature_names"],
            display=texts["display"],
        )

    def answered(self, number: int) -> None:
        """Record how many answers are stored."""
        _write(self.folder / _ANSWERS, str(number))

    def close(self) -> None:
        """Release the folder, so that another process may take it over."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def remove(self) -> None:
        """Remove the run; in a folder that the caller named, files of others stay."""
        if self.keep:
            strip(self.folder)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.close()


def runs_folder() -> Path:
    """Return where runs are kept: ``svddtune/runs`` in the user's state folder (XDG)."""
    return user_state_path("svddtune", appauthor=False).absolute() / "runs"


def new_folder(title: str) -> Path:
    """Make a folder for a run: in the state folder, or a temporary one where that is not writable.

    Old runs are removed first, see `tidy`.
    """
    tidy()
    slug = _NOT_IN_NAMES.sub("-", title).strip("-.")[:_LONGEST_NAME] or "run"
    stem = f"{slug}-{datetime.now():%Y%m%d-%H%M%S}"
    base = runs_folder()
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        for attempt in range(1, 1000):
            folder = base / (stem if attempt == 1 else f"{stem}-{attempt}")
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                return folder
    except OSError as error:
        folder = Path(tempfile.mkdtemp(prefix=f"svddtune-{stem}-"))
        log.warning("Runs cannot be kept in %s (%s): this one is kept in %s", base, error, folder)
        return folder
    raise Unavailable(f"{base} already holds too many runs named {stem}", reason="STORAGE_UNUSABLE")


def kept_runs() -> list[Summary]:
    """Return the runs in the state folder that have no result yet, newest first."""
    found = [_summary(folder) for folder in _folders() if (folder / _STORE).is_dir()]
    return sorted((one for one in found if one), key=lambda one: one.created, reverse=True)


def strip(folder: Path) -> None:
    """Remove a finished run's files from its folder; files of others stay."""
    for name in (_RUN, _ROWS, _TEXTS, _ANSWERS, _LOCK):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / _STORE, ignore_errors=True)


def tidy(now: float | None = None) -> None:
    """Remove interrupted runs that are too old or too large, and incomplete folders.

    Each removal is logged as a warning; runs in use stay.
    """
    now = time.time() if now is None else now
    left = list[tuple[float, Path, int]]()
    for folder in _folders():
        with contextlib.suppress(OSError):
            if (folder / _RUN).exists():
                left.append((_last_change(folder), folder, _size(folder)))
            elif (folder / _ROWS).exists() and now - folder.stat().st_mtime > _MAKING_S:
                _remove_unused(folder, "")
    total = sum(size for _, _, size in left)
    for changed, folder, size in sorted(left):
        age_days = (now - changed) / _DAY_S
        if age_days > KEEP_DAYS:
            reason = f"untouched for {age_days:.0f} days"
        elif total > KEEP_BYTES and age_days > 1:
            reason = f"interrupted runs took {total / 2**30:.1f} GiB"
        else:
            continue
        if _remove_unused(folder, reason):
            total -= size


def _remove_unused(folder: Path, reason: str) -> bool:
    try:
        lock = _acquire(folder)
    except Conflict:
        return False
    if reason:
        log.warning("Removed the interrupted run %s: %s", folder.name, reason)
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    return True


def _folders() -> Iterator[Path]:
    with contextlib.suppress(OSError):  # where it cannot be read, no run is kept there
        yield from (path for path in runs_folder().iterdir() if path.is_dir())


def _find(which: str | os.PathLike[str]) -> Path:
    path = Path(which).expanduser()
    if (path / _RUN).is_file():
        return path.resolve()
    wanted = str(which)
    known = kept_runs()
    exact = [run for run in known if run.name == wanted]
    found = exact or [run for run in known if wanted and run.name.startswith(wanted)]
    if len(found) == 1:
        return found[0].folder
    names = ", ".join(run.name for run in found or known) or "none"
    if found:
        raise InvalidInput(
            f"{wanted!r} matches {len(found)} runs: {names}; give more of the name",
            reason="RUN_AMBIGUOUS",
            metadata={"run": wanted},
        )
    raise NotFound(
        f"There is no interrupted run {wanted!r}: it is not a folder, and {runs_folder()} holds: "
        f"{names}",
        reason="RUN_NOT_FOUND",
        metadata={"run": wanted},
    )


def _summary(folder: Path) -> Summary | None:
    try:
        description = json.loads((folder / _RUN).read_text())
        options = description["options"]
        return Summary(
            name=folder.name,
            folder=folder,
            title=str(description["title"]),
            created=datetime.fromisoformat(description["created"]),
            answers=_number(folder / _ANSWERS),
            budget=int(options["config"]["budget"]),
            running=_in_use(folder),
            bytes=_size(folder),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it is being made or removed, or belongs to somebody else


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _in_use(folder: Path) -> bool:
    try:
        os.close(_acquire(folder))
    except Conflict:
        return True
    return False


def _acquire(folder: Path) -> int:
    """Lock a folder until the descriptor is closed or this process ends."""
    import fcntl  # without fcntl there is no embedded service either

    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise Conflict(
            f"The run in {folder} is still running in another process",
            reason="RUN_IN_USE",
            metadata={"run": str(folder)},
        ) from error
    return lock


def _write_data(folder: Path, data: RunData) -> None:
    np.save(folder / _ROWS, data.X, allow_pickle=False)
    texts = {
        "ids": None if data.ids is None else list(data.ids),
        "feature_names": list(data.feature_names),
        "display": [dict(one) for one in data.display],
    }
    (folder / _TEXTS).write_text(json.dumps(texts))


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def _last_change(folder: Path) -> float:
    return max(path.stat().st_mtime for path in (folder / _ANSWERS, folder / _RUN) if path.exists())


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total
