"""What the tests of the commands share: small benchmark sets, and a folder to write to."""

from pathlib import Path

import pytest
from tests.evaluation.scene import write_sets


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small sets of the benchmark's form."""
    return write_sets(tmp_path_factory.mktemp("bench") / "data")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run each test in a folder of its own, because reports go to the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SVDDTUNE_DEBUG", raising=False)
