"""What ``deploy/slim.py`` takes out of an environment, and what it leaves there."""

import subprocess
import sys
from pathlib import Path

from tests.prose import ROOT

REMOVED = (
    "numpy/_core/tests/test_umath.py",
    "numpy/__init__.pyi",
    "numpy/_core/include/numpy/arrayobject.h",
    "scipy/stats/tests/data/nist.dat",
    "scipy/linalg/cython_blas.pxd",
    "sklearn/datasets/data/iris.csv",
    "sklearn/tests/__init__.py",
    "program/tests/__init__.py",
    "program/__pycache__/unused.cpython-311.pyc",
)
KEPT = (
    "numpy/__init__.py",
    "numpy/testing/__init__.py",
    "scipy/linalg/cython_blas.so",
    "sklearn/datasets/__init__.py",
    "sklearn/svm/_base.py",
)


def slimmed(tmp_path: Path, program: str) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    for name in (*REMOVED, *KEPT):
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text("")
    (packages / "program" / "__main__.py").write_text(program)
    (packages / "program" / "used.py").write_text("")
    (packages / "program" / "unused.py").write_text("")
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    command: list[str | Path] = [sys.executable, ROOT / "deploy" / "slim.py", tmp_path, "program"]
    return packages, subprocess.run(command, capture_output=True, text=True, check=False)


def test_tests_types_and_sources_go_and_what_a_start_imports_is_compiled(tmp_path: Path) -> None:
    packages, done = slimmed(tmp_path, "import program.used")
    assert done.returncode == 0, done.stderr
    assert [name for name in REMOVED if (packages / name).exists()] == []
    assert [name for name in KEPT if not (packages / name).exists()] == []
    compiled = {path.name.split(".")[0] for path in (packages / "program").rglob("*.pyc")}
    assert compiled == {"__main__", "used"}


def test_process_that_does_not_start_any_more_fails_the_build(tmp_path: Path) -> None:
    _, done = slimmed(tmp_path, "import program.tests")
    assert done.returncode == 1
    assert "No module named 'program.tests'" in done.stderr
