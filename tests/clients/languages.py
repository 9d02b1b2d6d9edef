"""The clients of other languages: what builds them and what runs their programs."""

import fcntl
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.toolchains import works

ROOT = Path(__file__).parents[2]
Command = tuple[str, ...]


@dataclass(frozen=True)
class Language:
    """One client and its programs.

    Attributes
    ----------
    folder : str
        Where all commands run, from the root of the repository.
    toolchain : tuple of str
        The programs without which the client cannot be built.
    build : tuple of commands
        They build everything below, and are quick where it is built already.
    unit_tests : command
        The client's own tests; empty if it has none.
    quickstart : command
        Takes HOST:PORT, a CSV file and a seed. It uploads the file, whose first column is the
        observation's id, and creates a session with the seed and a budget of 20. It answers
        queries as labeler "quickstart": outlier if latency_ms > 300 or errors > 5. After each
        answer it prints "answered N" to stderr; at the end one JSON object to stdout, see
        examples/python/quickstart.py.
    conformance : command
        The program of conformance/README.md.
    abilities : set of str
        Those of `conformance.program.ABILITIES` that the program has.
    """

    name: str
    folder: str
    toolchain: tuple[str, ...]
    build: tuple[Command, ...]
    unit_tests: Command
    quickstart: Command
    conformance: Command = ()
    abilities: frozenset[str] = frozenset({"release", "credit_0"})

    def build_all(self) -> None:
        """Build the client, in one process at a time; skip the test if a toolchain is missing."""
        missing = [tool for tool in self.toolchain if not works(tool)]
        if missing:
            pytest.skip(f"the {self.name} client needs {' and '.join(missing)}")
        with (ROOT / self.folder).joinpath(".build.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for command in self.build:
                self.run(command)

    def run(self, command: Command) -> None:
        """Run a command of the client; fail the test with its output if it fails."""
        done = subprocess.run(
            command,
            cwd=ROOT / self.folder,
            env={**os.environ, "PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


PYTHON = Language(
    name="python",
    folder="examples/python",
    toolchain=(),
    build=(),
    unit_tests=(),
    quickstart=(sys.executable, "quickstart.py"),
)
_JAVA = ("java", "-cp", "target/examples:target/*:target/lib/*")
OTHERS = (
    Language(
        name="go",
        folder="client/go",
        toolchain=("go",),
        build=(("go", "build", "-o", "bin/", "./examples/..."),),
        unit_tests=("go", "test", "./..."),
        quickstart=("bin/quickstart",),
        conformance=("bin/conformance",),
        abilities=frozenset({"release"}),
    ),
    Language(
        name="typescript",
        folder="client/typescript",
        toolchain=("node", "npm"),
        build=(("npm", "install", "--no-audit", "--no-fund"), ("npm", "run", "build")),
        unit_tests=("npm", "test"),
        quickstart=("node", "dist/examples/quickstart.js"),
        conformance=("node", "dist/examples/conformance.js"),
    ),
    Language(
        name="java",
        folder="client/java",
        toolchain=("javac", "mvn"),
        build=(
            ("mvn", "--batch-mode", "--quiet", "-DskipTests", "package"),
            (
                "javac",
                *("-cp", "target/*:target/lib/*", "-d", "target/examples"),
                *("examples/Quickstart.java", "examples/Conformance.java"),
            ),
        ),
        unit_tests=("mvn", "--batch-mode", "--quiet", "surefire:test"),
        quickstart=(*_JAVA, "Quickstart"),
        conformance=(*_JAVA, "Conformance"),
    ),
    Language(
        name="rust",
        folder="client/rust",
        toolchain=("cargo",),
        build=(("cargo", "test", "--locked", "--features", "tls", "--no-run"),),
        unit_tests=("cargo", "test", "--locked", "--features", "tls"),
        quickstart=("target/debug/examples/quickstart",),
        conformance=("target/debug/examples/conformance",),
    ),
)
