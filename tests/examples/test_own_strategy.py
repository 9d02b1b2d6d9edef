"""The example of a strategy of one's own: installed, tested by its own tests, and used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.extensions.scene import EXAMPLE, install_example

pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(300)]

SAME = """
import numpy as np
from svddtune import ActiveSVDD, tune

rng = np.random.default_rng(1)
X = np.r_[rng.normal(size=(60, 2)), rng.uniform(5, 9, (5, 2))]
y = np.r_[np.ones(60), -np.ones(5)]
asked = []

def oracle(query):
    asked.append(query.row)
    return y[query.row]

tuned = tune(X, oracle, budget=12, own_strategy="farthest", scaling="minmax")
alone = ActiveSVDD(oracle, budget=12, strategy="farthest", scaling="minmax").fit(X)
assert asked[:12] == asked[12:], asked
assert tuned.C == alone.C_ and abs(tuned.gamma / alone.gamma_ - 1) < 1e-9
print(*asked[:12])
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the example is installed beside svddtune."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=250,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    install_example(tmp_path)
    return tmp_path


def test_example_passes_its_own_conformance_tests(folder: Path) -> None:
    (folder / "test_conformance.py").write_text((EXAMPLE / "test_conformance.py").read_text())
    done = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_conformance.py")
    assert done.returncode == 0, done.stdout
    assert "12 passed" in done.stdout


def test_service_and_estimator_ask_the_same_by_strategy_of_example(folder: Path) -> None:
    done = run(folder, "-c", SAME)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 12


def test_pip_installs_example_with_its_entry_points(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*pip, "--target", str(tmp_path), str(EXAMPLE)],
        capture_output=True,
        text=True,
    )
    if "Could not find a version" in done.stderr or "NewConnectionError" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    (entries,) = tmp_path.glob("*.dist-info/entry_points.txt")
    assert "farthest = svddtune_farthest:farthest" in entries.read_text()
