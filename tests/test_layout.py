"""The layout tells the truth: namespace roots, generated code, public names, named files."""

import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import svddtune

ROOT = Path(__file__).parent.parent
SOURCE_ROOTS = ("protos", "service", "worker", "client")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_only_the_clients_root_makes_the_package(root: str) -> None:
    assert not (ROOT / root / "__init__.py").exists()
    assert (ROOT / root / "svddtune" / "__init__.py").exists() == (root == "client")


def test_package_finds_what_all_source_roots_hold() -> None:
    held = {
        path.name
        for root in SOURCE_ROOTS
        for path in (ROOT / root / "svddtune").iterdir()
        if (path / "__init__.py").exists()
    }
    found = {module.name for module in pkgutil.iter_modules(svddtune.__path__) if module.ispkg}
    assert held == found


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_every_package_is_typed(root: str) -> None:
    for package in (ROOT / root / "svddtune").iterdir():
        if package.is_dir() and package.name != "__pycache__":
            assert (package / "py.typed").exists(), package
    assert (ROOT / "client" / "svddtune" / "py.typed").exists()


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
    extras = PYPROJECT["project"]["optional-dependencies"]
    declared = [
        *PYPROJECT["project"]["dependencies"],
        *(one for of in extras.values() for one in of),
    ]
    declared += [one for one in PYPROJECT["dependency-groups"]["dev"] if isinstance(one, str)]
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    names = [re.split(r"[^\w-]", one, maxsplit=1)[0] for one in declared]
    assert [name for name in names if name not in explained] == []


def test_parts_need_nothing_that_a_plain_installation_lacks() -> None:
    whole = set(PYPROJECT["project"]["dependencies"])
    for part in ("client", "service", "worker"):
        needed = PYPROJECT["dependency-groups"][part]
        assert {one for one in needed if isinstance(one, str)} <= whole, part
