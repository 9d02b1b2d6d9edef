"""Check, record and build the wire contract as a descriptor set.

Run it with: python -m tools.contract check | record | build FILE

``check`` lints all .proto files and compares the public ones with the last recorded version, both
by buf and the rules of ``buf.yaml``. ``record`` is a step of every release: it writes the
descriptor set of the public files to the folder ``protos/released``. ``build`` writes the one that
a release publishes: with all imports and comments.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.protoc import PROTOS, ROOT, run_protoc

RELEASED = PROTOS / "released"
# The files that are published; those of jobs are between service and workers.
PUBLIC = "svddtune/v1"
ALL = "svddtune"


def build(out: Path, *, protos: Path = PROTOS, folder: str = PUBLIC, comments: bool = True) -> None:
    """Write the descriptor set of the .proto files below a folder, with their imports.

    Raises SystemExit where they do not compile.
    """
    run_protoc(
        "--include_imports",
        *(["--include_source_info"] if comments else []),
        f"--descriptor_set_out={out}",
        files=sorted((protos / folder).rglob("*.proto")),
        protos=protos,
    )


def last_recorded(released: Path = RELEASED) -> Path | None:
    """The recorded descriptor set of the highest version; None if there is none."""
    return max(released.glob("svddtune-*.binpb"), key=_version, default=None)


def _version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path.stem)))


def faults(protos: Path = PROTOS, against: Path | None = None) -> str:
    """What buf finds wrong with the .proto files; empty if nothing is.

    Each line has file, line, column and a sentence. ``against`` is a descriptor set whose users
    must not break.
    """
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "all.binpb"
        build(image, protos=protos, folder=ALL)
        found = _buf("lint", image, "--path", ALL)
        if against is not None:
            found += _buf("breaking", image, "--against", against, "--path", PUBLIC)
    return found


def _buf(*arguments: str | Path) -> str:
    # Next to this interpreter, whatever PATH says.
    program = Path(sys.executable).with_name("buf")
    run = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True)
    # (100: something was found.)
    if run.returncode not in (0, 100):
        raise SystemExit(run.stderr)
    return run.stdout


def main(arguments: list[str]) -> None:
    """Do what the command line says."""
    match arguments:
        case ["check"]:
            if found := faults(against=last_recorded()):
                raise SystemExit(found)
        case ["record"]:
            version = (ROOT / "VERSION").read_text().strip()
            RELEASED.mkdir(exist_ok=True)
            build(RELEASED / f"svddtune-{version}.binpb", comments=False)
        case ["build", out]:
            build(Path(out))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
