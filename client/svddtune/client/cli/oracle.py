"""``svddtune oracle``: labelers that are programs."""

from __future__ import annotations

import typer

from svddtune.client.cli import simulate, ticket_replay, tickets

oracle = typer.Typer(
    help="Label with programs: replay tickets, or simulate labelers.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@oracle.callback()
def _oracle() -> None:
    """Label with programs: replay tickets, or simulate labelers."""


oracle.command("simulate")(simulate.simulate)
oracle.command("check")(tickets.check)
oracle.command("replay")(ticket_replay.replay)
oracle.command("mappings")(tickets.mappings)
