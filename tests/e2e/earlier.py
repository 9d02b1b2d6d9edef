"""The code of an earlier version, from the history of this clone, to run its processes."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A version whose newest layout of the data is 3.
LAYOUT_3 = "ebea0c5dbb3a1640b98400e3c5c28b3d88a4e05b"
# Folders whose packages make up the namespace ``svddtune``.
_FOLDERS = ("client", "protos", "service", "worker")
_PACKAGES = ("client", "jobs", "numerics", "service", "state", "v1", "worker")
_WHERE = """
import importlib, sys
for name in sys.argv[1:]:
    print(importlib.import_module("svddtune." + name).__path__[0])
"""


class NoEarlierVersion(Exception):
    """The earlier version cannot be run here."""


def environment(tree: Path) -> dict[str, str]:
    """Environment of processes that run the code of a tree."""
    path = os.pathsep.join(str(tree / folder) for folder in _FOLDERS)
    return {**os.environ, "PYTHONPATH": path}


def extract(commit: str, folder: Path) -> Path:
    """Write the tree of a commit into a folder; raises NoEarlierVersion."""
    archive = subprocess.run(
        ["git", "archive", commit, *_FOLDERS], cwd=ROOT, capture_output=True, check=False
    )
    if archive.returncode:
        raise NoEarlierVersion(f"commit {commit[:12]} is not in this clone")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as content:
        content.extractall(folder, filter="data")
    # What is installed must not win.
    found = subprocess.run(
        [sys.executable, "-c", _WHERE, *_PACKAGES],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    places = found.stdout.splitlines()
    if not places or not all(Path(one).is_relative_to(folder) for one in places):
        raise NoEarlierVersion(
            f"the packages of commit {commit[:12]} cannot be run: {found.stderr or places}"
        )
    return folder
