"""Every public function of the client documents its parameters, what it returns, and its errors."""

import ast
import builtins
import dataclasses
import enum
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import griffe
import pytest
from tests.prose import ROOT

import svddtune.client as package
from svddtune.client import SvddtuneError

SOURCES = "".join(
    path.read_text()
    for root in ("client", "service")
    for suffix in ("py", "lua")
    for path in (ROOT / root).rglob(f"*.{suffix}")
)
# These raise what all methods of the class may raise, which its docstring lists.
RAISES_WHAT_THE_CLASS_SAYS = {
    f"{flavour}{name}"
    for flavour in ("", "Async")
    for name in (
        "TuningClient.close",
        "TuningClient.server_info",
        "Tuning.close",
        "Tuning.is_open",
        "Tuning.lost_reason",
        "Tuning.release",
        "Tuning.session",
        "Tuning.set_credit",
        "Tuning.until_gone",
    )
}


def public_functions() -> Iterator[tuple[str, Any, str]]:
    """Yield name, function and docstring of every public function, method and constructor."""
    for name in package.__all__:
        value = getattr(package, name)
        if not inspect.isclass(value):
            yield name, value, inspect.getdoc(value) or ""
            continue
        if not (
            name.endswith("Tuning")  # made by the client
            or issubclass(value, enum.Enum | SvddtuneError)
            or dataclasses.is_dataclass(value)
        ):
            yield name, value.__init__, inspect.getdoc(value) or ""
        for member, function in inspect.getmembers(value, inspect.isroutine):
            ours = (getattr(function, "__module__", None) or "").startswith("svddtune.")
            if ours and not member.startswith("_"):
                yield f"{name}.{member}", function, inspect.getdoc(function) or ""


FUNCTIONS = {name: (function, text) for name, function, text in public_functions()}


def documented(text: str, kind: griffe.DocstringSectionKind) -> list[Any]:
    """The items of a docstring's section, none where it has no such section."""
    sections = griffe.Docstring(text).parse("numpy")
    return [item for section in sections if section.kind is kind for item in section.value]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented_and_no_other(name: str) -> None:
    function, text = FUNCTIONS[name]
    names = {p for p in inspect.signature(function).parameters if p not in ("self", "cls")}
    items = documented(text, griffe.DocstringSectionKind.parameters)
    assert {item.name.lstrip("*") for item in items} == names


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_returned_is_documented(name: str) -> None:
    function, text = FUNCTIONS[name]
    if str(inspect.signature(function).return_annotation) == "None":
        return
    sections = (griffe.DocstringSectionKind.returns, griffe.DocstringSectionKind.yields)
    summary = text.partition("\n\n")[0]
    assert re.search(r"\b([Rr]eturn|[Yy]ield)\b", summary) or any(
        documented(text, kind) for kind in sections
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_documented_with_reasons_that_exist(name: str) -> None:
    function, text = FUNCTIONS[name]
    items = documented(text, griffe.DocstringSectionKind.raises)
    classes = {one for item in items for one in str(item.annotation).split(", ")}
    unknown = {one for one in classes if not hasattr(package, one) and not hasattr(builtins, one)}
    assert unknown == set()
    reasons = {one for item in items for one in re.findall(r"\b[A-Z]+_[A-Z_]+\b", item.description)}
    assert {reason for reason in reasons if f'"{reason}"' not in SOURCES} == set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = [
        function.__globals__[node.exc.func.id]
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id in function.__globals__
    ]
    for kind in filter(inspect.isclass, raised):
        assert classes & {base.__name__ for base in kind.__mro__}, kind
    if re.match(r"(Async)?Tuning(Client)?\.", name):
        assert items or name in RAISES_WHAT_THE_CLASS_SAYS
