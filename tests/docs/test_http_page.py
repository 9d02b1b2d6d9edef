"""The lines with curl on the page about HTTP run as they stand."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from svddtune.client import EmbeddedStack, SvddModel

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text()
URL = "http://127.0.0.1:50080"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the lines run."""
    return tmp_path_factory.mktemp("curl")


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    for program in ("bash", "curl", "jq", "perl"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    script = "set -euo pipefail\n" + "".join(blocks("sh"))
    assert script.count(URL) == 1
    with EmbeddedStack(workers=1, http_listen="127.0.0.1:0") as stack:
        done = subprocess.run(
            ["bash", "-c", script.replace(URL, stack.info["http"])],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=100,
        )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_lines_reach_a_result(printed: str) -> None:
    assert "SESSION_STATE_COMPLETED" in printed
    assert '"total":10' in printed
    assert '"outliers": 6' in printed


def test_model_is_kept(printed: str, folder: Path) -> None:
    assert '"unusual":"height"' in printed
    assert SvddModel.load(folder / "model.npz").feature_names == ("width", "height")


def test_error_on_the_page_is_what_curl_prints(printed: str) -> None:
    (error,) = blocks("json")
    assert error in printed
