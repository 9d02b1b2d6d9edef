"""The layout tells the truth: namespace roots, generated code, public names, named files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE_ROOTS = ("protos", "service", "worker", "client")


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_no_package_hides_the_other_source_roots(root: str) -> None:
    assert not (ROOT / root / "__init__.py").exists()
    assert not (ROOT / root / "svddtune" / "__init__.py").exists()


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_every_package_is_typed(root: str) -> None:
    for package in (ROOT / root / "svddtune").iterdir():
        if package.is_dir() and package.name != "__pycache__":
            assert (package / "py.typed").exists(), package


def test_generated_code_is_current(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_protos.py", tmp_path],
        check=True,
        capture_output=True,
    )
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*_pb2*.py*"))
    assert made
    for path in made:
        assert (tmp_path / path).read_text() == (ROOT / "protos" / path).read_text(), path
    stored = sorted(
        path.relative_to(ROOT / "protos") for path in (ROOT / "protos").rglob("*_pb2*.py*")
    )
    assert [path for path in stored if "__pycache__" not in path.parts] == made


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))])
def test_files_that_prose_names_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    roots = "|".join((*SOURCE_ROOTS, "tests", "docs", "tools", "benchmarks", "examples"))
    for named in re.findall(rf"`((?:{roots})/[\w./-]*)`", text):
        assert (ROOT / named).exists(), f"{page} names {named}"


def test_every_dependency_is_explained() -> None:
    declared = re.findall(
        r'^  "([a-z0-9-]+)(?:\[[^\]]*\])?[><=]', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    assert [name for name in declared if name not in explained] == []
