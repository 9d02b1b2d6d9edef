"""Build the files of a release into ``dist/``: docs/releasing.md.

``python -m tools.release [--out FOLDER] [PART ...]``; the parts are those of `PARTS`, by default
all. A part whose toolchain is missing is named and left out. The files depend on the sources
alone: times in them are that of the last commit (``SOURCE_DATE_EPOCH``).
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from packaging.requirements import Requirement
from tools import contract
from tools.protoc import IMPORTS, PROTOS, ROOT
from tools.toolchains import works

VERSION = (ROOT / "VERSION").read_text().strip()
DESCRIPTORS = "svddtune.binpb"
# Nothing imports the first, but errors carry its messages; it imports the second.
DETAILS = ("google/rpc/error_details.proto", "google/protobuf/duration.proto")
OPENAPI = ROOT / "service" / "svddtune" / "service" / "http" / "openapi.json"
BIN = Path(sys.executable).parent


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return what it prints; end with that and its errors where it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace")
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def python(out: Path) -> None:
    """Sdists and wheels; a wheel is built from its sdist."""
    for project in ("client", ".", "evaluation"):
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT / project)


def protos(out: Path) -> None:
    """The descriptor set with comments, and the .proto files with all that they import."""
    descriptors = out / DESCRIPTORS
    contract.build(descriptors)
    held = FileDescriptorSet.FromString(descriptors.read_bytes()).file
    names = {file.name for file in held} | set(DETAILS)
    packed = {name: _found(name) for name in names}
    for path in (ROOT / "LICENSE", OPENAPI, PROTOS / contract.PUBLIC / "service_config.json"):
        packed[path.name] = path
    _archive(out / f"svddtune-protos-{VERSION}.tar.gz", packed)


def npm(out: Path) -> None:
    """The package for Node and browsers, and what it depends on."""
    asked = ("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev")
    with _copied("client/typescript") as client:
        run("npm", "ci", "--no-audit", "--no-fund", cwd=client)
        run("npm", "run", "build", cwd=client)
        run("npm", "pack", "--pack-destination", out, cwd=client)
        listed = json.loads(run(*asked, cwd=client))
    del listed["serialNumber"], listed["metadata"]["timestamp"]  # the same for the same sources
    bill = json.dumps(listed, indent=2, sort_keys=True) + "\n"
    (out / f"svddtune-client-{VERSION}-npm.cdx.json").write_text(bill)


def maven(out: Path) -> None:
    """The jar."""
    stamp = f"-Dproject.build.outputTimestamp={os.environ['SOURCE_DATE_EPOCH']}"
    with _copied("client/java") as client:
        run("mvn", "-q", "-B", "-DskipTests", stamp, "package", cwd=client)
        (jar,) = (path for path in client.glob("target/*.jar") if path.stem == "svddtune")
        shutil.copyfile(jar, out / f"svddtune-{VERSION}.jar")


def cargo(out: Path) -> None:
    """The crate, which has a copy of the protos and the licence."""
    with _copied("client/rust") as crate:
        shutil.copytree(PROTOS / "svddtune" / "v1", crate / "protos" / "svddtune" / "v1")
        shutil.copyfile(ROOT / "LICENSE", crate / "LICENSE")
        run("cargo", "package", "--allow-dirty", "--no-verify", cwd=crate)
        for made in crate.glob("target/package/*.crate"):
            shutil.copyfile(made, out / made.name)


def notes(out: Path) -> None:
    """The section of the changelog on this version."""
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## {re.escape(VERSION)}\b.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        sys.exit(f"CHANGELOG.md has no section on {VERSION}")
    (out / f"svddtune-{VERSION}-notes.md").write_text(found[0].strip() + "\n")


def sbom(out: Path) -> None:
    """What a full installation of the Python packages consists of (CycloneDX).

    The environment that is described has the metadata of these packages alone, in the versions
    that are installed here.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        (site,) = Path(folder).glob("lib/python*/site-packages")
        for distribution in _needed("svddtune", {"all"}):
            for file in distribution.files or []:
                if file.parts[0].endswith(".dist-info") and "__pycache__" not in file.parts:
                    target = site / file
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(str(file.locate()), target)
        run(
            *(BIN / "cyclonedx-py", "environment", "--output-reproducible"),
            *("--pyproject", ROOT / "pyproject.toml", "--mc-type", "application"),
            *("--output-file", out / f"svddtune-{VERSION}.cdx.json"),
            Path(folder) / "bin" / "python",
        )


# In this order; with the program that a part needs beside Python, if any, and its folder.
PARTS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "python": (python, "", ""),
    "protos": (protos, "", ""),
    "npm": (npm, "npm", "client/typescript"),
    "maven": (maven, "mvn", "client/java"),
    "cargo": (cargo, "cargo", "client/rust"),
    "notes": (notes, "", ""),
    "sbom": (sbom, "", ""),
}


@contextmanager
def _copied(client: str) -> Iterator[Path]:
    """The folder of a client in a copy of what it is built from, without what was built before."""
    with tempfile.TemporaryDirectory() as folder:
        built = shutil.ignore_patterns("node_modules", "target", "dist", "gen", "__pycache__")
        for part in (client, "protos", "tools"):
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=built)
        for name in ("LICENSE", "VERSION"):
            shutil.copyfile(ROOT / name, Path(folder) / name)
        yield Path(folder) / client


def _found(name: str) -> Path:
    """The file that an import names."""
    return next(path for folder in (PROTOS, *IMPORTS) if (path := folder / name).exists())


def _archive(target: Path, held: dict[str, Path]) -> None:
    """Write a tar file that depends on names and contents alone."""
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in sorted(held.items()):
            entry = tarfile.TarInfo(f"{target.name.removesuffix('.tar.gz')}/{name}")
            data = path.read_bytes()
            entry.size, entry.mtime, entry.mode = len(data), epoch, 0o644
            archive.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(packed.getvalue(), mtime=epoch))


def _needed(name: str, extras: set[str]) -> Iterator[metadata.Distribution]:
    """Everything that an installation of a distribution brings, but not itself."""
    seen: set[tuple[str, str]] = set()
    told: set[str] = set()
    waiting = [(name, extra) for extra in ("", *sorted(extras))]
    while waiting:
        wanted, extra = waiting.pop()
        if (wanted, extra) in seen:
            continue
        seen.add((wanted, extra))
        distribution = metadata.distribution(wanted)
        if wanted not in (*told, name):
            told.add(wanted)
            yield distribution
        for line in distribution.requires or []:
            one = Requirement(line)
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                canonical = re.sub(r"[-_.]+", "-", one.name).lower()
                waiting += [(canonical, further) for further in ("", *sorted(one.extras))]


def main(arguments: list[str]) -> None:
    """Build the parts, then write the checksums of all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args(arguments)
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if "SOURCE_DATE_EPOCH" not in os.environ:
        os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct").strip()
    # (The TypeScript client generates its code by this interpreter.)
    os.environ["PYTHON"] = sys.executable
    out: Path = given.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in given.parts or PARTS:
        build, program, folder = PARTS[name]
        if program and not works(program):
            print(f"release: no {program}: {folder} is left out")
        else:
            print(f"release: {name}", flush=True)
            build(out)
    made = sorted(path for path in out.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (out / "SHA256SUMS").write_text("".join(sums))
    print("".join(sums), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
