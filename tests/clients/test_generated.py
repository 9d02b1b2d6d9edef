"""What the clients have from the .proto files is current."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.clients.languages import ROOT
from tools.protoc import IMPORTS
from tools.toolchains import works

GOOGLEAPIS = ROOT / "client" / "rust" / "googleapis"

pytestmark = pytest.mark.slow


def test_generated_go_code_is_current(tmp_path: Path) -> None:
    if not works("go"):
        pytest.skip("the go client needs go")
    subprocess.run(
        [sys.executable, "-m", "tools.generate_clients", "go", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    folder = ROOT / "client" / "go"
    stored = {path.relative_to(folder) for path in folder.glob("svddtunepb/*")}
    assert {path for path in made if path.parts[0] == "svddtunepb"} == stored
    for path in made:
        assert (tmp_path / path).read_text() == (folder / path).read_text(), path


@pytest.mark.parametrize("name", sorted(path.name for path in GOOGLEAPIS.rglob("*.proto")))
def test_copied_protos_of_the_rust_client_are_those_of_google(name: str) -> None:
    (copied,) = GOOGLEAPIS.rglob(name)
    assert copied.read_text() == (IMPORTS[0] / copied.relative_to(GOOGLEAPIS)).read_text()
