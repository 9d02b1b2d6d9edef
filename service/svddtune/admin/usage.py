"""``svddtune usage``: what each project has, as its limits count it."""

from typing import Annotated

import typer

from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, store
from svddtune.admin.tables import mebibytes, table
from svddtune.client.cli.options import Json
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, say
from svddtune.state import recount
from svddtune.state.recount import ProjectUsage

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def usage(
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    anew: Annotated[
        bool,
        typer.Option(
            "--recount", help="Count anew, as `svddtune doctor` advises where it differs."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what each project has: sessions, datasets and the bytes of their rows.

    Services may run while it counts anew.
    """
    with store(redis) as client:
        found = recount.compare(client, partitions)
        if anew:
            recount.recount(client, partitions)
    if as_json:
        print_json({"projects": [_to_dict(one) for one in found]})
    elif not found:
        say("No project has anything.")
    else:
        header = ("sessions", "datasets", "rows", "counted", "project")
        table(header, (_row(one, mended=anew) for one in found))
    wrong = sum(not one.right for one in found)
    if wrong and anew:
        say(f"Mended the counts of {many(wrong, 'project')}.")
    elif wrong:
        say("Count anew with: svddtune usage --recount")


def _to_dict(one: ProjectUsage) -> dict[str, object]:
    return {
        "project": one.project,
        "counted": dict(one.counted),
        "found": dict(one.found),
        "right": one.right,
    }


def _row(one: ProjectUsage, *, mended: bool) -> tuple[str, ...]:
    was = "right" if one.right else "mended" if mended else "wrong"
    sessions, datasets, size = (one.found[kind] for kind in recount.KINDS)
    return str(sessions), str(datasets), mebibytes(size), was, one.project
