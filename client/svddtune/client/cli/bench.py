"""``svddtune bench``: the evaluation, a distribution of its own that brings this command."""

from __future__ import annotations

import typer

from svddtune.client.errors import NotInstalled

# Other distributions offer commands under this group of entry points.
ENTRY_POINTS = "svddtune.commands"
DISTRIBUTION = "svddtune-evaluation"


def bench(context: typer.Context) -> None:
    """Measure every method on benchmark sets."""
    command = typer.main.get_command(_load())
    with command.make_context("bench", list(context.args), parent=context.parent) as inner:
        command.invoke(inner)


def _load() -> typer.Typer:
    # Looking through all installed distributions takes too long for the other commands.
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=ENTRY_POINTS, name="bench"):
        command: typer.Typer = entry_point.load()
        return command
    raise NotInstalled(
        f"svddtune bench needs {DISTRIBUTION}, which is not installed; "
        f"install it with: pip install {DISTRIBUTION}",
        metadata={"module": "svddtune.evaluation"},
    )
