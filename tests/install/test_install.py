"""A plain installation is complete, and a part names the packages that it lacks."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(600)]

ROOT = Path(__file__).parent.parent.parent
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
CONSTRAINTS = ("-c", str(ROOT / "constraints.txt"))
TUNE = """
import numpy as np
from svddtune import tune

rng = np.random.default_rng(1)
X = np.r_[rng.normal(size=(60, 2)), rng.uniform(5, 9, (5, 2))]
y = np.r_[np.ones(60), -np.ones(5)]
tuned = tune(X, lambda query: y[query.row], budget=12)
print(tuned.gamma > 0, (tuned.predict(X) == -1).sum())
"""


class Place:
    """A virtual environment, and a folder in which its programs run."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        self.bin, self.folder = folder / "venv" / "bin", folder

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, without access to the source tree."""
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def pip(self, *arguments: str) -> None:
        """Run pip with the user's settings and cache."""
        done = subprocess.run(
            [self.bin / "python", *PIP, *arguments], capture_output=True, text=True, cwd=ROOT
        )
        if "Could not find a version" in done.stderr or "NewConnectionError" in done.stderr:
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr.strip().splitlines()[-1]


def built(project: Path, folder: Path) -> str:
    """Build a project's wheel in an isolated environment."""
    Place(folder).pip("wheel", *CONSTRAINTS, "--no-deps", "--wheel-dir", str(folder), str(project))
    (made,) = folder.glob("*.whl")
    return str(made)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def plain(wheel: str, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """``pip install`` of the wheel, no extras."""
    place = Place(tmp_path_factory.mktemp("plain"))
    place.pip("install", *CONSTRAINTS, wheel)
    return place


@pytest.fixture(scope="module")
def client_only(wheel: str, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Install the group `client`, and the package without dependencies."""
    place = Place(tmp_path_factory.mktemp("client"))
    place.pip("install", *CONSTRAINTS, "pip>=25.1")
    place.pip("install", *CONSTRAINTS, "--group", "client")
    place.pip("install", "--no-deps", wheel)
    return place


@pytest.mark.parametrize("command", [["svddtune"], ["python", "-m", "svddtune"]])
def test_plain_install_shows_help_and_version(plain: Place, command: Sequence[str]) -> None:
    shown = plain.run(*command, "--help")
    assert shown.returncode == 0
    assert "demo" in shown.stdout
    told = plain.run(*command, "--version").stdout.split()
    assert told[0] == "svddtune"
    assert (
        told[1]
        == plain.run("python", "-c", "import svddtune as s; print(s.__version__)").stdout[:-1]
    )


def test_plain_install_tunes(plain: Place) -> None:
    done = plain.run("python", "-c", TUNE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True ")


def test_plain_install_runs_the_demo_and_names_the_extra_for_its_picture(plain: Place) -> None:
    done = plain.run("svddtune", "demo", "--budget", "8", "--json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["files"]) == {"model", "outside", "result"}
    assert "pip install 'svddtune[pictures]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("tune data.parquet", "parquet"),
        ("oracle check data.parquet --mapping jira --id-field id", "parquet"),
    ],
)
def test_plain_install_names_the_extra_that_is_missing(
    plain: Place, command: str, extra: str
) -> None:
    (plain.folder / "data.parquet").write_bytes(b"PAR1")
    done = plain.run("svddtune", *command.split(), "--json")
    assert done.returncode == 1
    assert f"pip install 'svddtune[{extra}]'" in last_line(done)
    assert json.loads(done.stdout)["error"]["reason"] == "NOT_INSTALLED"


def test_plain_install_names_distribution_that_brings_bench(plain: Place) -> None:
    done = plain.run("svddtune", "bench", "paper", "--data", ".", "--json")
    assert done.returncode == 1
    assert "pip install svddtune-evaluation" in last_line(done)
    assert json.loads(done.stdout)["error"]["reason"] == "NOT_INSTALLED"


def test_evaluation_wheel_beside_plain_install_brings_bench(
    wheel: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with zipfile.ZipFile(wheel) as files:
        assert not [name for name in files.namelist() if name.startswith("svddtune/evaluation/")]
    place = Place(tmp_path)
    evaluation = built(ROOT / "evaluation", tmp_path_factory.mktemp("evaluation"))
    place.pip("install", *CONSTRAINTS, wheel, evaluation)
    assert "parallel" in place.run("svddtune", "bench", "--help").stdout
    done = place.run("svddtune", "bench", "paper", "--data", "nowhere")
    assert done.returncode == 2
    assert "nowhere is not a folder" in last_line(done)


def test_client_only_install_names_packages_a_local_service_needs(client_only: Place) -> None:
    done = client_only.run(
        "python",
        "-c",
        "from svddtune import NotInstalled, TuningClient, tune\n"
        "TuningClient('127.0.0.1:1').close()\n"
        "try:\n    tune([[0.0], [1.0]], [1, -1])\n"
        "except NotInstalled as error:\n    print(error.reason, error.metadata['packages'])\n",
    )
    assert done.returncode == 0, done.stderr
    reason, packages = done.stdout.split()
    assert reason == "NOT_INSTALLED"
    assert {"redis", "scikit-learn", "typer"} <= set(packages.split(","))


def test_client_only_install_names_packages_the_command_line_needs(client_only: Place) -> None:
    done = client_only.run("svddtune", "demo", "--json")
    assert done.returncode == 1
    assert "pip install svddtune" in last_line(done)
    assert json.loads(done.stdout)["error"]["reason"] == "NOT_INSTALLED"
