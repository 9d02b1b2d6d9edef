"""The public names of the numerical packages: sorted, described, and free of input and output."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from svddtune import numerics
from svddtune.evaluation import baselines
from svddtune.numerics import label_free

PACKAGES = (numerics, label_free, baselines)
FORBIDDEN = {"asyncio", "google", "grpc", "redis", "os", "pathlib", "socket", "logging"}


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_described(package: ModuleType) -> None:
    names = package.__all__
    constants = [name for name in names if name.isupper()]
    classes = [name for name in names if name[0].isupper() and not name.isupper()]
    functions = [name for name in names if name[0].islower()]
    assert names == sorted(constants) + sorted(classes) + sorted(functions)
    public = [getattr(package, name) for name in names]
    described = [item for item in public if inspect.isclass(item) or inspect.isfunction(item)]
    assert described
    assert all(item.__doc__ for item in described)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_functions_that_raise_errors_document_them(package: ModuleType) -> None:
    functions = [getattr(package, name) for name in package.__all__ if name[0].islower()]
    raising = [one for one in functions if re.search(r"^ +raise ", inspect.getsource(one), re.M)]
    silent = [
        one.__name__ for one in raising if "Raises\n------" not in (inspect.getdoc(one) or "")
    ]
    assert silent == []


@pytest.mark.parametrize("package", PACKAGES)
def test_numerical_package_does_no_input_or_output(package: ModuleType) -> None:
    assert package.__file__ is not None
    for path in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            assert not {module.split(".")[0] for module in modules} & FORBIDDEN, path.name
