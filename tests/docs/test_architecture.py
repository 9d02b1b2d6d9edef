"""The steps on ``docs/architecture.md`` agree with the code, and its pictures with the steps."""

import ast
import re
import tomllib

import pytest
from tools.draw_architecture import PAGE, ROOT, Step, redrawn, ways

TEXT = PAGE.read_text()
WAYS = ways(TEXT)
EVERY = [(way, step) for way in WAYS for step in way]
NAMES = [f"{index}.{step.number}" for index, way in enumerate(WAYS, 1) for step in way]


def source(step: Step) -> str:
    """The text of the step's function.

    Raises
    ------
    LookupError
        The file has no such function.
    """
    text = (ROOT / step.path).read_text()
    if step.path.endswith(".lua"):
        if step.path.endswith(f"/{step.function}.lua"):
            return text
        found = re.search(rf"^local function {step.function}\(.*?^end$", text, re.M | re.S)
        if found is None:
            raise LookupError(f"{step.path} has no function {step.function}")
        return found[0]
    node: ast.AST = ast.parse(text)
    for name in step.function.split("."):
        node = next(
            (
                one
                for one in ast.iter_child_nodes(node)
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and one.name == name
            ),
            ast.Pass(),
        )
    found_text = ast.get_source_segment(text, node)
    if found_text is None:
        raise LookupError(f"{step.path} has no {step.function}")
    return found_text


def calls(text: str) -> set[str]:
    """Names of the functions and methods that a function in Python calls."""
    return {
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    }


def strings(text: str) -> set[object]:
    """Constants of a function in Python."""
    return {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}


def leads_to(origin: Step, step: Step) -> bool:
    """Whether one step leads to another as the page says."""
    name = step.function.rpartition(".")[2]
    if step.by == "call" and origin.path.endswith(".lua"):
        return (
            re.search(rf"\b{name}\(", source(origin).replace(f"function {name}(", "")) is not None
        )
    if step.by == "call":
        return name in calls(source(origin))
    if step.by == "script":
        return name in strings(source(origin))
    files = [(ROOT / one.path).read_text().lower() for one in (origin, step)]
    return bool(step.token) and all(step.token.lower() in text for text in files)


def test_page_follows_an_answer_and_a_query() -> None:
    assert len(WAYS) == 2
    for way in WAYS:
        assert [step.number for step in way] == list(range(1, len(way) + 1))


@pytest.mark.parametrize(("way", "step"), EVERY, ids=NAMES)
def test_step_is_a_function_of_its_file(way: list[Step], step: Step) -> None:
    assert source(step)


@pytest.mark.parametrize(("way", "step"), EVERY, ids=NAMES)
def test_step_is_reached_as_the_page_says(way: list[Step], step: Step) -> None:
    if step.origin is None:
        assert step.number == 1
    else:
        assert step.origin < step.number
        assert leads_to(way[step.origin - 1], step)


def test_step_of_a_moved_function_is_noticed() -> None:
    first, second = WAYS[0][:2]
    moved = Step(2, 1, "call", "", "client", second.path, "Tuning.hand_in")
    with pytest.raises(LookupError):
        source(moved)
    assert not leads_to(first, moved)


def test_pictures_are_drawn_from_the_tables() -> None:
    assert redrawn(TEXT) == TEXT, "run tools/draw_architecture.py"


def test_page_lists_the_import_contracts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = [contract["name"] for contract in project["tool"]["importlinter"]["contracts"]]
    assert re.findall(r"^- (.+)$", TEXT, re.M) == names
