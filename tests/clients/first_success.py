"""Follow the published page of each client in an empty folder, and measure how long it takes.

::

    python -m tests.clients.first_success [LANGUAGE ...]

A service that ``svddtune up`` started must be running. Each language gets an empty folder, a
clone of the last commit and empty caches, so that everything it needs is downloaded and compiled.
Every ``sh`` block of the page is run as it stands. A block of another kind after a file's name,
e.g. "`main.go`:", becomes that file.

It prints what the commands print, the time of all of them, and each that took a second or more.
"""

import os
import re
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    "python": "client/README.md",
    "go": "client/go/README.md",
    "typescript": "client/typescript/README.md",
    "java": "client/java/README.md",
    "rust": "client/rust/README.md",
    "curl": "docs/http.md",
}
_BLOCK = re.compile(
    r"(?:`(?P<file>[\w./]+)`:\n\n)?^```(?P<kind>[\w,]+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_END = "END-OF-THE-FILE"
# Before each command, bash notes the time and the command.
_NOTE = """\
set -euo pipefail
trap 'printf "%s\\t%s\\n" "$EPOCHREALTIME" "${BASH_COMMAND%%$'"'\\n'"'*}" >> "$TIMES"' DEBUG
"""


def script_of(page: str) -> str:
    """Return what a reader of the page does, as a script that notes times in ``$TIMES``."""
    script = _NOTE
    for block in _BLOCK.finditer(page):
        file, text = block["file"], block["text"]
        if block["kind"] == "sh":
            script += text
        elif file:
            folder = Path(file).parent
            script += f"mkdir -p {folder}\ncat > {file} <<'{_END}'\n{text}{_END}\n"
    return script + "true\n"


def environment(caches: Path) -> dict[str, str]:
    """Return the environment of a newcomer: a new clone, and nothing in the cache of any tool."""
    clone = caches / "svddtune"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True)
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    kept = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"}
    return kept | {
        "SVDDTUNE": str(clone),
        "PYTHON": sys.executable,  # of `make install`
        "PIP_CACHE_DIR": str(caches / "pip"),
        "GOMODCACHE": str(caches / "go-modules"),
        "GOCACHE": str(caches / "go-build"),
        "GOFLAGS": "-modcacherw",
        "npm_config_cache": str(caches / "npm"),
        "MAVEN_OPTS": f"-Dmaven.repo.local={caches / 'maven'}",
        "CARGO_HOME": str(caches / "cargo"),
        "RUSTUP_HOME": rustup,
    }


def try_out(language: str) -> None:
    """Follow the page of a language; print what was measured."""
    script = script_of((ROOT / PAGES[language]).read_text())
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as caches:
        times = Path(caches) / "times"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment(Path(caches)) | {"TIMES": str(times)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        noted = [line.split("\t", 1) for line in times.read_text().splitlines()]
    print(f"\n{done.stdout}")
    if done.returncode:
        sys.exit(f"{PAGES[language]} does not lead to a result")
    took = [
        (float(after) - float(before), command) for (before, command), (after, _) in pairwise(noted)
    ]
    total = sum(seconds for seconds, _ in took)
    print(f"{language}: {total:.1f} s, {total / 60:.1f} minutes")
    for seconds, command in took:
        if seconds >= 1:
            print(f"  {seconds:6.1f} s  {command}", flush=True)


def main() -> None:
    """Try the languages of the command line, or all."""
    for language in sys.argv[1:] or PAGES:
        try_out(language)


if __name__ == "__main__":
    main()
