"""The page on reliability names tests that are there, one at least for each promise."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def promises() -> list[str]:
    """The lines of the table of promises."""
    section = PAGE.split("## What we promise\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")][2:]


def test_each_promise_names_tests_that_are_there() -> None:
    assert len(promises()) > 10
    missing = []
    for promise in promises():
        named = TEST.findall(promise)
        assert named, f"no test keeps {promise}"
        for path, name in named:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            tests = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
            if name not in tests:
                missing.append(f"{path}::{name}")
    assert missing == []
