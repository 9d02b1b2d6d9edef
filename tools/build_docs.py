"""Build the site of ``docs/`` into ``site/``; a warning is an error.

The reader of docstrings knows packages in one folder only, so it gets a folder with links to all
source roots.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MERGED = ROOT / ".tools" / "docs"  # as in zensical.toml


def merge() -> None:
    """Link everything below the source roots' ``svddtune`` folders into one such folder."""
    shutil.rmtree(MERGED, ignore_errors=True)
    package = MERGED / "svddtune"
    package.mkdir(parents=True)
    for root in ("protos", "client", "service", "worker"):
        for path in (ROOT / root / "svddtune").iterdir():
            if path.name != "__pycache__":
                (package / path.name).symlink_to(path)


def main() -> None:
    """Build; the exit code is that of the builder."""
    merge()
    zensical = Path(sys.executable).with_name("zensical")
    sys.exit(subprocess.run([zensical, "build", "--strict", "--clean"], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
