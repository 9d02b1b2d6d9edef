"""A plain installation is complete, and that of the client alone names what it lacks.

``SVDDTUNE_TEST_PYTHONS`` names further interpreters to install on (``make test-pythons``).
"""

import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.prose import tracked_files

from svddtune import EmbeddedStack

pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.timeout(600)]

ROOT = Path(__file__).parent.parent.parent
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
VERSION = (ROOT / "VERSION").read_text().strip()
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
LABEL = """
import importlib.util, random, sys
import svddtune
from svddtune import TuningClient

rng = random.Random(1)
X = [[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(40)] + [[9.0, 9.0], [8.0, 9.0]]
with TuningClient(sys.argv[1]) as client:
    session = client.create_session(client.upload_dataset(X), budget=8)
    with client.tuning(session, labeler="ann") as tuning:
        for query in tuning.queries():
            tuning.answer(query, "outlier" if max(query.features) > 5 else "inlier")
    client.wait_until_completed(session)
    predicted = client.model(session).predict(X)
heavy = [name for name in ("sklearn", "redis", "scipy") if importlib.util.find_spec(name)]
print(svddtune.__version__, len(predicted), heavy)
"""
PROJECTS = {"svddtune-client": ROOT / "client", "svddtune": ROOT}
PYTHONS = os.environ.get("SVDDTUNE_TEST_PYTHONS", "").split()


class Place:
    """A virtual environment, and a folder in which its programs run."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
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
            [self.bin / "python", *PIP, *arguments],
            cwd=ROOT,
            env=os.environ | {"PIP_NO_COMPILE": "1"},  # what is imported is compiled then
            capture_output=True,
            text=True,
        )
        if "Could not find a version" in done.stderr or "NewConnectionError" in done.stderr:
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr.strip().splitlines()[-1]


def built(project: Path, folder: Path) -> str:
    """Build a project's wheel from its sdist, without access to an index."""
    made = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, project],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (wheel,) = folder.glob("*.whl")
    return str(wheel)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: built(path, tmp_path_factory.mktemp(name)) for name, path in PROJECTS.items()}


@pytest.fixture(scope="module")
def plain(wheels: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Place:
    """``pip install`` of the wheels, no extras."""
    place = Place(tmp_path_factory.mktemp("plain"))
    place.pip("install", *CONSTRAINTS, *wheels.values())
    return place


@pytest.fixture(scope="module")
def client_only(wheels: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("client"))
    place.pip("install", *CONSTRAINTS, wheels["svddtune-client"])
    return place


def test_every_module_of_the_source_roots_is_in_exactly_one_wheel(wheels: dict[str, str]) -> None:
    held: Counter[str] = Counter()
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel) as files:
            held.update(name for name in files.namelist() if name.startswith("svddtune/"))
    roots = ("protos", "client", "service", "worker")
    tracked = [
        "/".join(file.parts[1:])
        for file in tracked_files()
        if file.parts[0] in roots and file.parts[1] == "svddtune"
    ]
    assert held == Counter(tracked)


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


@pytest.mark.parametrize("python", PYTHONS)
def test_plain_install_on_another_python_tunes(
    wheels: dict[str, str], python: str, tmp_path: Path
) -> None:
    place = Place(tmp_path, python)
    place.pip("install", *wheels.values())
    done = place.run("python", "-c", TUNE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True ")
    assert place.run("python", "-m", "pip", "check").returncode == 0


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


@pytest.mark.thorough
def test_evaluation_wheel_beside_plain_install_brings_bench(
    wheels: dict[str, str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = Place(tmp_path)
    evaluation = built(ROOT / "evaluation", tmp_path_factory.mktemp("evaluation"))
    place.pip("install", *CONSTRAINTS, *wheels.values(), evaluation)
    assert "parallel" in place.run("svddtune", "bench", "--help").stdout
    done = place.run("svddtune", "bench", "paper", "--data", "nowhere")
    assert done.returncode == 2
    assert "nowhere is not a folder" in last_line(done)


def test_client_only_install_serves_a_session(client_only: Place, stack: EmbeddedStack) -> None:
    done = client_only.run("python", "-W", "error", "-c", LABEL, stack.address)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [VERSION, "42", "[]"]


def test_client_only_install_names_distribution_a_local_service_needs(client_only: Place) -> None:
    done = client_only.run(
        "python",
        "-c",
        "from svddtune import NotInstalled, tune\n"
        "try:\n    tune([[0.0], [1.0]], [1, -1])\n"
        "except NotInstalled as error:\n    print(error.reason, error.metadata['packages'])\n"
        "try:\n    from svddtune import ActiveSVDD\n"
        "except NotInstalled as error:\n    print(error.message)\n",
    )
    assert done.returncode == 0, done.stderr
    service, estimator = done.stdout.splitlines()
    assert service == "NOT_INSTALLED svddtune"
    assert estimator.endswith("pip install svddtune")


def test_client_only_install_names_extra_the_command_line_needs(client_only: Place) -> None:
    done = client_only.run("svddtune", "label", "--json")
    assert done.returncode == 1
    assert "pip install 'svddtune-client[cli]'" in last_line(done)
    assert json.loads(done.stdout)["error"]["reason"] == "NOT_INSTALLED"


@pytest.mark.thorough
def test_client_with_command_line_speaks_to_a_service_and_outlives_the_complete_distribution(
    wheels: dict[str, str], tmp_path: Path, stack: EmbeddedStack
) -> None:
    place = Place(tmp_path)
    place.pip("install", *CONSTRAINTS, f"{wheels['svddtune-client']}[cli]")
    shown = place.run("svddtune", "sessions", "--server", stack.address, "--json")
    assert shown.returncode == 0, shown.stderr
    for command in ("demo", "serve", "up"):
        done = place.run("svddtune", command)
        assert done.returncode == 1
        assert "pip install svddtune " in last_line(done) + " "
        assert "NOT_INSTALLED" in last_line(done)
    place.pip("install", "--no-deps", wheels["svddtune"])
    assert place.run("python", "-c", "import svddtune.state.errors").returncode == 0
    place.pip("uninstall", "--yes", "svddtune")
    shown = place.run("svddtune", "sessions", "--server", stack.address, "--json")
    assert shown.returncode == 0, shown.stderr
    assert place.run("python", "-c", "import svddtune.state.errors").returncode == 1
