"""Programs of Debian's packages for the tests, in ``.tools``; nothing is installed on the machine.

``python tools/debian.py redis-server-8 promtool`` fetches packages by apt, as any user, and unpacks
them. A program brings its own libraries, so that of a newer Debian starts too. On other systems, or
without a mirror, one line says what is missing, and the tests that need it are skipped.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TOOLS = Path(__file__).parent.parent / ".tools"
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """A program cannot be had; the message says why."""


@dataclass(frozen=True)
class Program:
    """A file of a package.

    ``release``: a codename of Debian, None for that of this machine, as a library needs it that is
    loaded into the machine's own programs.
    """

    package: str
    pattern: str
    release: str | None = "trixie"


PROGRAMS = {
    "redis-server-8": Program("redis-server", "usr/bin/redis-server"),
    "valkey-server-8": Program("valkey-server", "usr/bin/valkey-server"),
    "promtool": Program("promtool", "usr/bin/promtool"),
    "libfaketimeMT.so.1": Program(
        "libfaketime", "usr/lib/*/faketime/libfaketimeMT.so.1", release=None
    ),
}


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable((done.stderr.strip() or f"{command[0]} failed").splitlines()[-1])
    return done.stdout


def machine_release() -> str:
    """The codename of this machine's Debian. Raises Unavailable."""
    try:
        found = platform.freedesktop_os_release()
    except OSError:
        found = {}
    if found.get("ID") != "debian" or not shutil.which("apt-get"):
        raise Unavailable("this machine has no Debian")
    return found["VERSION_CODENAME"]


def mirror() -> str:
    """The mirror from which this machine has its packages. Raises Unavailable."""
    release = machine_release()
    listed = _run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)").splitlines()
    for line in listed:
        uri, _, of = line.rpartition(" ")
        if of == release:
            return uri
    raise Unavailable(f"apt has no mirror of {release}")


def download(packages: list[str], release: str, folder: Path) -> list[Path]:
    """Packages and all that they depend on, as files in a folder. Raises Unavailable."""
    archives = folder / "cache" / "archives"
    (archives / "partial").mkdir(parents=True)
    (folder / "lists" / "partial").mkdir(parents=True)
    # Nothing counts as installed, so what is fetched is complete.
    (folder / "status").touch()
    source = folder / "sources.list"
    source.write_text(f"deb [signed-by={_KEYS}] {mirror()} {release} main\n")
    options = {
        "Dir::State": folder,
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": source,
        "Dir::Etc::SourceParts": "/dev/null",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
    }
    words = [f"--option={name}={value}" for name, value in options.items()]
    _run("apt-get", "-qq", *words, "--error-on=any", "update")
    _run("apt-get", "-qq", *words, "--yes", "--download-only", "install", *packages)
    return sorted(archives.glob("*.deb"))


def _starter(root: Path, program: Path) -> str:
    """A script that starts a program with the libraries that were fetched with it."""
    (loader,) = root.glob("usr/lib/*/ld-linux*.so.*")
    return f'#!/bin/sh\nexec {loader} --library-path {loader.parent} {program} "$@"\n'


def provide(names: list[str], release: str) -> None:
    """Put programs of one release of Debian into ``.tools``. Raises Unavailable."""
    with tempfile.TemporaryDirectory(prefix="svddtune-debian-") as folder:
        packages = sorted({PROGRAMS[name].package for name in names})
        archives = download(packages, release, Path(folder))
        root = TOOLS / "debian" / release
        root.mkdir(parents=True, exist_ok=True)
        for archive in archives:
            _run("dpkg-deb", "--extract", archive, root)
    for name in names:
        (found,) = root.glob(PROGRAMS[name].pattern)
        target, new = TOOLS / name, TOOLS / f"{name}.new"
        if found.suffix == ".1":
            shutil.copy(found, new)
        else:
            new.write_text(_starter(root, found))
            new.chmod(0o755)
        new.replace(target)


def main(names: list[str]) -> int:
    """Provide what is not there yet; return 0, as tests skip what is missing."""
    if unknown := set(names) - set(PROGRAMS):
        raise SystemExit(f"{', '.join(sorted(unknown))}: choose from {', '.join(PROGRAMS)}")
    wanted = [name for name in names if not (TOOLS / name).exists()]
    try:
        releases = {name: PROGRAMS[name].release or machine_release() for name in wanted}
        for release in sorted(set(releases.values())):
            provide([name for name in wanted if releases[name] == release], release)
    except Unavailable as error:
        print(f"No {', '.join(wanted)}: {error}. Tests that need them are skipped.")
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main(sys.argv[1:]))
