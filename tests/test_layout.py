"""Checks of the layout: source roots, generated code, dependencies, names in prose."""

import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.prose import ROOT, prose_of, tracked_files

import svddtune

SOURCE_ROOTS = ("protos", "service", "worker", "client", "evaluation")
FILES = tracked_files()
FOLDERS = sorted({file.parts[0] for file in FILES if len(file.parts) > 1})
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CLIENT, EVALUATION = (
    tomllib.loads((ROOT / part / "pyproject.toml").read_text())["project"]
    for part in ("client", "evaluation")
)


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_only_the_client_root_has_package_init(root: str) -> None:
    assert not (ROOT / root / "__init__.py").exists()
    assert (ROOT / root / "svddtune" / "__init__.py").exists() == (root == "client")


def test_package_finds_subpackages_of_all_source_roots() -> None:
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
        [sys.executable, "-m", "tools.generate_protos", tmp_path],
        cwd=ROOT,
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


def test_blocking_client_is_generated_from_the_asyncio_client(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "generate_sync.py", tmp_path], check=True)
    made = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.py")]
    assert made
    for path in made:
        assert (tmp_path / path).read_text() == (ROOT / path).read_text(), path


def find_file(name: str, source: Path) -> bool:
    """Whether `name` in the prose of `source` names a file or folder.

    A name may be a path from the root or from the folder of `source`. It may also be the end of
    such a path, if the file is below that folder or is the only such file in the repository.
    """
    if name == "__init__.py" or any((ROOT / base / name).exists() for base in ("", source.parent)):
        return True
    candidates = [file for file in FILES if f"/{file}".endswith(f"/{name}")]
    below = [file for file in candidates if file.is_relative_to(source.parent)]
    return len(candidates) == 1 or bool(below)


def find_module(name: str, source: Path) -> bool:
    """Whether Python finds a dotted name, if it begins with a module of the project."""
    first = name.partition(".")[0]
    if (ROOT / source.parent / f"{first}.py").exists() and "svddtune" in source.parts:
        package = source.parts[source.parts.index("svddtune") : -1]
        name = ".".join((*package, name))
    elif first != "svddtune":
        return True
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


NAMED_FILE = re.compile(r"(?<![\w/.*{}<>-])((?:[\w.-]+/)*[\w-]+\.(?:py|lua|proto|md))\b(?![.(]?\w)")
NAMED_FOLDER = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`")
NAMED_MODULE = re.compile(r"`([a-z_]\w*(?:\.\w+)+)(?:\(\))?`")


def unknown_names(text: str, source: Path) -> list[str]:
    """The files, folders and modules that `text` names and the repository does not have."""
    return [
        *(name for name in NAMED_FILE.findall(text) if not find_file(name, source)),
        *(name for name in NAMED_FOLDER.findall(text) if not find_file(name, source)),
        *(
            name
            for name in NAMED_MODULE.findall(text)
            if not NAMED_FILE.fullmatch(name) and not find_module(name, source)
        ),
    ]


@pytest.mark.parametrize("kind", [".md", ".py", ".lua", ".proto", ".js", ".toml", "no suffix"])
def test_files_and_modules_named_in_prose_exist(kind: str) -> None:
    sources = [path for path in FILES if (path.suffix or "no suffix") == kind]
    unknown = {
        f"{path} names {name}"
        for path in sources
        for text in prose_of(path)
        for name in unknown_names(text, path)
    }
    assert any(True for path in sources for _ in prose_of(path))
    assert unknown == set()


@pytest.mark.parametrize(
    "text",
    [
        "see no_such_file.py",
        "as `state/no_such_script.lua` does",
        "the folder `tests/no_such_folder/`",
        "made by `svddtune.state.no_such_module`",
        "made by `keys.no_such_function`",
        "scene.py",
    ],
)
def test_missing_file_or_module_is_found(text: str) -> None:
    assert unknown_names(text, Path("service/svddtune/state/keys.py")) != []


def test_readme_names_every_page() -> None:
    readme = (ROOT / "README.md").read_text()
    pages = [
        path for path in FILES if path.suffix == ".md" and path.parts[0] in ("docs", "examples")
    ]
    assert [str(path) for path in pages if f"`{path}`" not in readme] == []


def test_every_dependency_is_explained_in_docs() -> None:
    declared = [
        one
        for project in (PYPROJECT["project"], CLIENT, EVALUATION)
        for of in (project["dependencies"], *project["optional-dependencies"].values())
        for one in of
    ]
    declared += [one for one in PYPROJECT["dependency-groups"]["dev"] if isinstance(one, str)]
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    names = [re.split(r"[^\w-]", one, maxsplit=1)[0] for one in declared]
    assert [name for name in names if name not in explained] == []


def test_dependency_groups_need_only_packages_of_plain_install() -> None:
    whole = {*PYPROJECT["project"]["dependencies"], *CLIENT["dependencies"]}
    for part in ("service", "worker"):
        assert set(PYPROJECT["dependency-groups"][part]) <= whole, part


@pytest.mark.parametrize("part", ["client", "client/typescript", "evaluation"])
def test_distribution_has_the_licence(part: str) -> None:
    assert (ROOT / part / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
