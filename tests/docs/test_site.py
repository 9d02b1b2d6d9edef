"""The site builds without a warning, shows every page, and documents every public name."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.prose import ROOT

import svddtune

DOCS = ROOT / "docs"
CONFIGURATION = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]


def pages_in(navigation: Any) -> Iterator[str]:
    """The pages that a navigation, or a part of it, leads to."""
    if isinstance(navigation, str):
        yield navigation
    else:
        for part in navigation.values() if isinstance(navigation, dict) else navigation:
            yield from pages_in(part)


def test_navigation_leads_to_every_page_once() -> None:
    there = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert sorted(pages_in(CONFIGURATION["nav"])) == there


def test_reference_documents_every_public_name() -> None:
    page = (DOCS / "reference" / "python.md").read_text()
    documented = [path.rpartition(".")[2] for path in re.findall(r"^::: (\S+)$", page, re.M)]
    assert sorted(documented) == sorted(set(svddtune.__all__) - {"__version__"})


@pytest.mark.slow
def test_site_builds_without_a_warning() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "build_docs.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "No issues found" in done.stderr
    site = ROOT / "site"
    assert (site / "tutorials" / "analyst.html").exists()
    assert 'class="mermaid"' in (site / "protocol.html").read_text()
    assert "upload_dataset" in (site / "reference" / "python.html").read_text()


@pytest.mark.slow
def test_broken_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[nowhere](nowhere.md)\n")
    (tmp_path / "zensical.toml").write_text('[project]\nsite_name = "x"\n')
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run(
        [zensical, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "does not exist" in done.stdout + done.stderr
