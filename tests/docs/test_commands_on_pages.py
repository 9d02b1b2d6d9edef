"""The program accepts every command line on the pages, with its options."""

import itertools
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from svddtune.client.cli.app import app
from svddtune.client.cli.operation import COMMANDS
from svddtune.evaluation.cli import bench

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md"] + [
    page
    for folder in ("client", "docs", "docs/tutorials", "examples/*")
    for page in sorted(ROOT.glob(f"{folder}/*.md"))
]
PROGRAM = "svddtune"
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# The other pages also name options of benchmarks and processes.
GUIDES = [page for page in PAGES if page.stem in ("README", "many-labelers", "oracles", "planning")]


def commands_on(text: str) -> Iterator[str]:
    """Command lines in blocks, in indented lines and between backticks."""
    text = text.replace("\\\n", " ")
    blocks = [body for kind, body in re.findall(BLOCK, text) if kind in ("", "sh", "console")]
    indented = re.findall(r"^ {4}(svddtune .*)$", text, re.MULTILINE)
    for line in itertools.chain(*(block.splitlines() for block in blocks), indented):
        line = line.removeprefix("$ ").split("  #")[0].split(" # ")[0].strip().removesuffix(" &")
        line = line.split(" > ")[0]  # what it prints goes to a file
        if line.startswith(PROGRAM + " "):
            yield line
    prose = re.sub(BLOCK, "", text)
    yield from re.findall(r"`(svddtune [a-z-][^`]*)`", prose)


CASES = [(page, line) for page in PAGES for line in dict.fromkeys(commands_on(page.read_text()))]


# The operator's commands by name.
OPERATOR: dict[str, Any] = {
    one.name: typer.main.get_command(import_module(one.module).app) for one in COMMANDS
}


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Find the command that the words name; return it with the remaining words."""
    command: Any = typer.main.get_command(app)
    if words[0].startswith("--"):  # options of the program itself
        context = command.context_class(command, info_name=command.name)
        words = command.make_parser(context).parse_args(list(words))[1] or words
    if words[0] == "bench":  # comes with another distribution
        command, words = typer.main.get_command(bench), words[1:]
    elif words[0] in OPERATOR:  # loaded when it is called
        command, words = OPERATOR[words[0]], words[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    if words and "show" in getattr(command, "commands", {}):
        command = command.commands["show"]  # as in: svddtune labelers SESSION
    return command, words


def check(line: str) -> None:
    command, words = command_of(shlex.split(line)[1:])
    words = [word for word in words if word != "..."]
    if getattr(command, "commands", None) and not command.invoke_without_command:
        # Prose names a group without a command.
        assert not [word for word in words if not word.startswith("-")], f"no command: {line}"
    context = command.context_class(command, info_name=command.name)
    given, left, _ = command.make_parser(context).parse_args(list(words))
    if getattr(command, "commands", None):
        left = [word for word in left if word not in command.commands]
    assert not left, f"{line}: nothing takes {left}"
    if words and "..." not in line:  # Prose names commands without required arguments.
        required = {one.name for one in command.params if one.required}
        assert required <= {name for name, value in given.items() if value}, line


@pytest.mark.parametrize(
    ("page", "line"), CASES, ids=[f"{page.name}: {line[:60]}" for page, line in CASES]
)
def test_command_on_page_is_accepted(page: Path, line: str) -> None:
    check(line)


@pytest.mark.parametrize(
    "line",
    [
        "svddtune tune DATA.csv --no-such-option",
        "svddtune nonsense",
        "svddtune oracle nonsense",
        "svddtune tune one.csv two.csv",
        "svddtune oracle check --mapping jira",
        "svddtune label SESSION --labeler",
    ],
)
def test_wrong_command_fails_the_check(line: str) -> None:
    with pytest.raises(Exception, match=r"."):
        check(line)


def test_pages_hold_commands_to_check() -> None:
    assert len(CASES) > 25
    assert {"svddtune demo", "svddtune up"} & {line for _, line in CASES}


def options(command: Any) -> set[str]:
    found = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    for below in getattr(command, "commands", {}).values():
        found |= options(below)
    return found


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_options_named_in_prose_exist(page: Path) -> None:
    commands = (typer.main.get_command(app), *OPERATOR.values())
    known = set().union(*map(options, commands)) | {"--help", "--group", "--no-deps", "--target"}
    prose = re.sub(BLOCK, "", page.read_text())
    spans = re.findall(r"`(?!python |pytest )([^`]+)`", prose)
    named = {name for span in spans for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span)}
    assert named - known == set()
