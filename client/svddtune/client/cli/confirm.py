"""Asks before something is lost."""

from __future__ import annotations

import sys

import typer

from svddtune.client.cli.failure import EXIT_FAILED
from svddtune.client.terminal.output import say


def check_can_ask(*, yes: bool, as_json: bool, instead: str = "--yes") -> None:
    """Raise UsageError where a confirmation is needed and nobody can give it.

    `instead` says which options to give.
    """
    from svddtune.client.errors import UsageError

    if not yes and (as_json or not sys.stdin.isatty()):
        raise UsageError(
            "Standard input is not a terminal, or --json is given, so nobody can "
            f"confirm: give {instead}"
        )


def confirm(question: str, *, yes: bool) -> None:
    """Ask, unless `yes`; end the command with a failure where the answer is no."""
    if not yes and not typer.confirm(question, err=True):
        say("Nothing was changed.")
        raise typer.Exit(EXIT_FAILED)
