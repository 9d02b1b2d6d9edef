"""The prose of the repository's files: pages, docstrings and comments."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMENT_SIGNS = {".lua": "--", ".proto": "//", ".js": "//", ".toml": "#", "": "#"}


def tracked_files() -> list[Path]:
    """Every file of the repository that git does not ignore, relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    named = [Path(line) for line in listing.stdout.splitlines()]
    return [path for path in named if (ROOT / path).is_file()]


def prose_of(path: Path) -> Iterator[str]:
    """The pieces of prose in a file of the repository.

    Parameters
    ----------
    path : Path
        The file, relative to the root.

    Yields
    ------
    str
        The whole text of a page; each docstring and comment of Python code; each comment of other
        code. Generated code and data files have none.
    """
    if "_pb2" in path.name:
        return
    if path.suffix == ".md":
        yield (ROOT / path).read_text()
    elif path.suffix == ".py":
        yield from python_prose((ROOT / path).read_text())
    elif path.suffix in COMMENT_SIGNS and path.name != "LICENSE":
        sign = re.escape(COMMENT_SIGNS[path.suffix])
        yield from re.findall(rf"{sign}(.*)", (ROOT / path).read_text())


def python_prose(source: str) -> Iterator[str]:
    """Docstrings and comments of Python code.

    A comment sign inside a string counts as a comment. Too much prose is harmless here, and a
    tokenizer takes ten times as long.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    yield from re.findall(r"(?:^|\s)#(.*)", source)
