"""The notebooks run from their first cell to their last, and reach what they show."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = [pytest.mark.slow, pytest.mark.integration, pytest.mark.timeout(300)]

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    found: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
# The kernel's own packages warn, of ports and of event loops.
@pytest.mark.filterwarnings("default")
def test_notebook_runs_and_finds_most_outliers(path: Path, tmp_path: Path) -> None:
    notebook = read(path)
    NotebookClient(
        notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = "".join(
        output.get("text", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    kappa = re.findall(r"kappa (\d\.\d\d)\n", shown)
    assert float(kappa[-1]) > 0.6, shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebook_is_kept_without_outputs(path: Path) -> None:
    code = [one for one in read(path).cells if one.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)
