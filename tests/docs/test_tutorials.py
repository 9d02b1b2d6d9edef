"""Every tutorial works as it is written."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.docs.walkthrough import Walkthrough

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"


def of_alert(observation: str) -> str:
    return "o" if int(observation.removeprefix("A-")) % 12 == 0 else "i"


def of_pump(observation: str) -> str:
    return "o" if int(observation.removeprefix("pump-")) >= 56 else "i"


def nobody(observation: str) -> str:
    raise AssertionError("this page labels nothing in a terminal")


KEYS: Mapping[str, Callable[[str], str]] = {
    "analyst": of_pump,
    "data-scientist": nobody,
    "platform-engineer": nobody,
    "soc-engineer": of_alert,
}


def test_every_tutorial_is_tested() -> None:
    assert sorted(KEYS) == sorted(page.stem for page in TUTORIALS.glob("*.md"))


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("page", KEYS)
def test_tutorial_works_as_written(page: str, tmp_path: Path) -> None:
    with Walkthrough(tmp_path, KEYS[page]) as reader:
        done = reader.follow((TUTORIALS / f"{page}.md").read_text())
    assert {"python", "sh"} <= set(done)


@pytest.mark.parametrize(
    "page",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```sh\nfalse\n```\n",
        "```python\nimport no_such_module\n```\n",
    ],
)
def test_page_that_does_not_work_is_noticed(page: str, tmp_path: Path) -> None:
    with (
        Walkthrough(tmp_path, nobody) as reader,
        pytest.raises((AssertionError, ImportError, TimeoutError)),
    ):
        reader.follow(page)
