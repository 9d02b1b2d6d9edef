"""Distributions with entry points, installed into a folder."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_strategy"


def install(folder: Path, name: str, source: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Put a distribution of one module into a folder, as an installer does."""
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def install_example(folder: Path) -> None:
    """Install examples/own_strategy without its build tool."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    source = (EXAMPLE / "svddtune_farthest.py").read_text()
    install(folder, "svddtune_farthest", source, project["entry-points"])
