"""Write ``docs/configuration.md`` from the settings of the processes and the command line.

``make protos`` runs it. What a setting means, its range and its default stand in the code that
reads it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from platformdirs import user_cache_path
from pydantic.fields import FieldInfo

from svddtune.client.cli.app import app
from svddtune.process.settings import ProcessSettings
from svddtune.service.settings import Settings as ServiceSettings
from svddtune.worker.settings import Settings as WorkerSettings

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "configuration.md"

_MADE = (
    "<!-- Made by tools/describe_configuration.py from the code; make protos writes it anew. -->"
)
_INTRODUCTION = f"""# Configuration

{_MADE}

How the processes of a deployment are set up. The settings of a session are on the page
[Settings of a session](settings.md).

Service and worker read a setting from the command line, or else from the environment, or else
take the default. They check all settings before they start, and name the one at fault.
`python -m svddtune.service --help` and `python -m svddtune.worker --help` print what stands here.
"""

# Variable, who reads it, what for.
_OTHERS = (
    (
        "`SVDDTUNE_DEBUG`",
        "command line",
        "with any value, an unexpected error shows its traceback",
    ),
    (
        "`XDG_STATE_HOME`",
        "command line and `tune`",
        "folder for a user's state; `tune` keeps its runs in `svddtune/runs` below it",
    ),
    (
        "`XDG_CACHE_HOME`",
        "worker",
        "folder for a user's cache, where `--dataset-cache` is by default",
    ),
    (
        "`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`",
        "service, worker",
        "credentials and place of a dataset store on S3; other vendors have variables of their own",
    ),
    ("`AWS_ALLOW_HTTP`", "service, worker", "true: a dataset store on S3 without TLS"),
)

_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))


def page() -> str:
    """The text of the page."""
    shared = set(ProcessSettings.model_fields)
    parts = [
        _INTRODUCTION,
        _process("Service and worker", ProcessSettings.model_fields),
        _process("Service", _without(ServiceSettings.model_fields, shared)),
        _process("Worker", _without(WorkerSettings.model_fields, shared)),
        _command_line(),
        _libraries(),
    ]
    return "\n".join(parts)


def _without(fields: dict[str, FieldInfo], shared: set[str]) -> dict[str, FieldInfo]:
    return {name: field for name, field in fields.items() if name not in shared}


def _process(title: str, fields: dict[str, FieldInfo]) -> str:
    lines = [f"## {title}", "", "| environment | option | what | values | default |"]
    lines += ["|---|---|---|---|---|"]
    for name, field in fields.items():
        option = name.replace("_", "-")
        flag = f"`--{option}`, `--no-{option}`" if field.annotation is bool else f"`--{option}`"
        what = (field.description or "").replace("|", "\\|")
        cells = (f"`SVDDTUNE_{name.upper()}`", flag, what, _values(field), _default(field))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join((*lines, ""))


def _values(field: FieldInfo) -> str:
    """The values that a setting takes, in words."""
    if field.annotation is bool:
        return "true or false"
    if get_origin(field.annotation) is Literal:
        return ", ".join(map(str, get_args(field.annotation)))
    if Path in (field.annotation, *get_args(field.annotation)):
        return "path"
    bounds = {
        word: getattr(rule, name)
        for rule in field.metadata
        for name, word in _BOUNDS
        if getattr(rule, name, None) is not None
    }
    if {"at least", "at most"} == set(bounds):
        return f"{bounds['at least']:g} to {bounds['at most']:g}"
    return " and ".join(f"{word} {_figure(bound)}" for word, bound in bounds.items()) or "text"


def _figure(number: Any) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Path):  # the same text for every user
        value = Path("~/.cache") / value.relative_to(user_cache_path())
    return f"`{_figure(value) if isinstance(value, float) else value}`"


def _command_line() -> str:
    """The options of commands that can be set in the environment."""
    told: dict[tuple[str, str, str], list[str]] = {}
    for name, command in _commands(typer.main.get_command(app), "svddtune"):
        for option in command.params:
            if option.envvar:
                key = (option.envvar, option.opts[0], option.help)
                told.setdefault(key, []).append(f"`{name}`")
    lines = ["## Command line", "", "| environment | option | what | commands |"]
    lines += ["|---|---|---|---|"]
    for (variable, flag, what), names in sorted(told.items()):
        lines.append(f"| `{variable}` | `{flag}` | {what} | {', '.join(names)} |")
    return "\n".join((*lines, ""))


def _libraries() -> str:
    lines = ["## Other variables", "", "| environment | who reads it | what |", "|---|---|---|"]
    return "\n".join((*lines, *(f"| {' | '.join(cells)} |" for cells in _OTHERS), ""))


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for below, child in getattr(command, "commands", {}).items():
        yield from _commands(child, f"{name} {below}")


if __name__ == "__main__":
    PAGE.write_text(page())
