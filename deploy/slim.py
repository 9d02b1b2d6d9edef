"""Leave in an environment what a process needs, and compile what its start imports.

``python slim.py ENVIRONMENT MODULE``, as ``python slim.py /opt/svddtune svddtune.worker``, run by
the environment's kind of Python while an image is built. Nothing but the standard library is used.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Folders of packages that hold tests, data for examples, what compilers read, or what a start
# compiles anew where it needs it.
_FOLDERS = (
    "**/__pycache__",
    "**/tests",
    "**/include",
    "numpy/_core/lib",
    "scipy/*/_examples",
    "sklearn/datasets/data",
    "sklearn/datasets/descr",
    "sklearn/datasets/images",
)
# Types, and sources of modules that are there compiled.
_FILES = ("*.pyi", "*.pxd", "*.pyx", "*.tp", "*.c", "*.cpp", "*.h", "*.hpp", "*.a", "*.f90")


def superfluous(packages: Path) -> Iterator[Path]:
    """Folders and files that no process of svddtune reads, parents before what they hold."""
    for pattern in _FOLDERS:
        yield from (one for one in packages.glob(pattern) if one.is_dir())
    for pattern in _FILES:
        yield from packages.rglob(pattern)


def remove(paths: Iterator[Path]) -> None:
    """Remove them; what left with its folder is no fault."""
    for path in list(paths):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def size_mb(folder: Path) -> int:
    """Size of the files of a folder, in MB."""
    files = (one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    return round(sum(one.stat().st_size for one in files) / 1e6)


def main() -> int:
    """Return the exit code: 0, or that of the process where it does not start any more."""
    environment, module = Path(sys.argv[1]), sys.argv[2]
    (packages,) = environment.glob("lib/python3*/site-packages")
    before = size_mb(environment)
    remove(superfluous(packages))
    # A container's root cannot be written to, so what a start compiles has to be there.
    started = subprocess.run(
        [environment / "bin" / "python", "-m", module, "--help"],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
    )
    print(f"{environment}: {before} MB, then {size_mb(environment)} MB", flush=True)
    return started.returncode


if __name__ == "__main__":
    sys.exit(main())
