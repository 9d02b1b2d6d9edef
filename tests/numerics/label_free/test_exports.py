"""The public surface of the label-free rules is what `__all__` says; they do no input or output."""

import ast
import inspect
from pathlib import Path

from svddtune import numerics
from svddtune.numerics import label_free

FORBIDDEN = {"asyncio", "google", "grpc", "redis", "os", "pathlib", "socket", "logging"}


def test_all_is_sorted_and_described() -> None:
    names = label_free.__all__
    constants = [name for name in names if name.isupper()]
    classes = [name for name in names if name[0].isupper() and not name.isupper()]
    functions = [name for name in names if name[0].islower()]
    assert names == sorted(constants) + sorted(classes) + sorted(functions)
    public = [getattr(label_free, name) for name in names]
    assert all(item.__doc__ for item in public if inspect.isclass(item) or inspect.isfunction(item))
    assert numerics.HEURISTICS is label_free.HEURISTICS


def test_no_input_or_output() -> None:
    for path in Path(label_free.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            assert not {module.split(".")[0] for module in modules} & FORBIDDEN, path.name
