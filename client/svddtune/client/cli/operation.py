"""The operator's commands: the complete installation has them, in the package ``svddtune.admin``.

The client knows their names only. It loads a command when somebody calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import typer

# Options and help are the command's own.
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@dataclass(frozen=True)
class OperatorCommand:
    """A command of the operator."""

    name: str
    # The module that has it, as ``app``.
    module: str
    help: str


COMMANDS = (
    OperatorCommand(
        "doctor",
        "svddtune.admin.doctor",
        "Look for what is wrong with a deployment, and say what to do.",
    ),
    OperatorCommand(
        "backup",
        "svddtune.admin.backup",
        "Write sessions with their data, labels, logs and results to one file.",
    ),
    OperatorCommand(
        "restore", "svddtune.admin.restore", "Restore sessions with their data from a backup."
    ),
    OperatorCommand(
        "jobs",
        "svddtune.admin.jobs",
        "Show the jobs of the workers; try dead letters again, or drop them.",
    ),
    OperatorCommand(
        "layout",
        "svddtune.admin.layout",
        "Show the layout of the data and who holds it back; hold it, or raise it.",
    ),
    OperatorCommand(
        "token",
        "svddtune.admin.tokens",
        "Make, list and revoke the tokens that tell a service who calls.",
    ),
    OperatorCommand("usage", "svddtune.admin.usage", "Show what each project has; count it anew."),
    OperatorCommand(
        "workers", "svddtune.admin.workers", "Show the workers, and what each of them does."
    ),
)


def add_commands(app: typer.Typer) -> None:
    """Add the operator's commands to the program."""
    for one in COMMANDS:
        app.command(
            one.name,
            help=one.help,
            rich_help_panel="For operators",
            add_help_option=False,
            context_settings=_PASSED_ON,
        )(_loading(one))


def _loading(one: OperatorCommand) -> Callable[[typer.Context], None]:
    def load(context: typer.Context) -> None:
        from svddtune.client.extras import check_complete

        check_complete()
        command = typer.main.get_command(import_module(one.module).app)
        with command.make_context(one.name, list(context.args), parent=context.parent) as inner:
            command.invoke(inner)

    return load
