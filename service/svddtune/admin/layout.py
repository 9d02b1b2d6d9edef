"""``svddtune layout``: the layout of the data, and who holds it back during an upgrade."""

from dataclasses import asdict
from typing import Annotated

import typer

from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, store
from svddtune.client.cli.options import Json
from svddtune.client.errors import UsageError, WrongState
from svddtune.client.terminal.output import print_json, tell
from svddtune.state import keys, layout

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})


@app.command("layout")
def show(
    hold: Annotated[
        bool,
        typer.Option("--hold", help="Keep the layout, so that the earlier version can come back."),
    ] = False,
    raise_now: Annotated[
        bool,
        typer.Option("--raise", help="Hold it no longer, and raise it unless somebody needs it."),
    ] = False,
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    as_json: Json = False,
) -> None:
    """Show which layout the data have, and what is in the way of a later one.

    Without --hold, services raise it by themselves a minute after the last older process has gone.
    """
    if hold and raise_now:
        raise UsageError("Give --hold or --raise, not both.")
    with store(redis) as client:
        if hold or raise_now:
            layout.hold(client, held=hold)
        found = layout.raise_layout(client) if raise_now else layout.layout_state(client)
        waiting = layout.not_migrated(client, partitions)
    if raise_now and found.obstacle:
        raise WrongState(
            f"The layout stays {found.in_force}: {found.obstacle}. Services raise it once that is "
            f"over.",
            reason="LAYOUT_IN_USE",
        )
    if as_json:
        newest = {"newest": keys.LAYOUT_VERSION, "not_migrated": waiting}
        print_json(asdict(found) | newest)
        return
    tell(f"Layout {found.in_force} is in force; this version writes up to {keys.LAYOUT_VERSION}.")
    if found.obstacle:
        tell(found.obstacle[0].upper() + found.obstacle[1:] + ".")
    if waiting and found.in_force == keys.LAYOUT_VERSION:
        tell(f"{waiting} ended sessions have not reached it yet. A service brings them there.")
