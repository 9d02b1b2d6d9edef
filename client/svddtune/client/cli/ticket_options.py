"""Options of the commands that read tickets, and the oracle made from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.file_options import input_file

if TYPE_CHECKING:
    from svddtune.client.tickets.oracle import TicketOracle

_T = TypeVar("_T")

ID_FIELD = "(observation id)"
"""Where observations that a service lists have their id, beside display fields of any name."""


class SeveralMatches(StrEnum):
    """The meaning of a ticket that matches several observations."""

    abstain = "abstain"
    nearest = "nearest"
    all = "all"


SessionOption = Annotated[
    str, typer.Option("--session", metavar="SESSION", help="The ID, or sessions/ID.")
]
Tickets = Annotated[
    Path,
    typer.Argument(
        parser=input_file,
        metavar="TICKETS",
        help="Export of a ticket system: .csv, .jsonl or .parquet, also as .gz; - is standard "
        "input.",
    ),
]
Mapping = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE",
        help="Meaning of the export's values: a name that `svddtune oracle mappings` lists, or a "
        ".toml file.",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="VALUE=VERDICT",
        help="Meaning of one value: inlier, outlier or abstain. Overrides the mapping. Repeatable.",
    ),
]
Observations = Annotated[
    Path | None,
    typer.Option(
        parser=input_file,
        metavar="FILE",
        help="Observations with their ids: .csv, .jsonl or .parquet. Default: the session's own.",
    ),
]
IdField = Annotated[
    str,
    typer.Option(metavar="PATH", help="Field of a ticket that holds the id of its observation."),
]
KeyField = Annotated[
    str, typer.Option(metavar="PATH", help="Field of a ticket that holds the key to join by.")
]
TimeField = Annotated[
    str, typer.Option(metavar="PATH", help="Field of a ticket that holds the time to join by.")
]
IdColumn = Annotated[
    str,
    typer.Option(
        help="Column of the observations that holds the id. Default: id, observation_id "
        "or observation."
    ),
]
KeyColumn = Annotated[
    str, typer.Option(help="Column or display field of the observations that holds the key.")
]
TimeColumn = Annotated[
    str, typer.Option(help="Column or display field of the observations that holds the time.")
]
ObservationTime = Annotated[
    str,
    typer.Option(
        metavar="FORMAT",
        help="Format of the observations' times: iso8601, epoch_s, epoch_ms or a strptime pattern.",
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Join by key and time, with times at most this far apart (e.g. 15m).",
    ),
]
Before = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="How much earlier the observation may be than the ticket."),
]
After = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="How much later the observation may be than the ticket."),
]
TimeZone = Annotated[
    str, typer.Option(metavar="ZONE", help="Time zone of times that have none, e.g. Europe/Berlin.")
]
SeveralOption = Annotated[
    SeveralMatches,
    typer.Option("--several", help="What to do with a ticket that matches several observations."),
]
NumbersAsText = Annotated[
    bool,
    typer.Option("--numbers-as-text", help="Read whole numbers in the tickets' ids as text."),
]
Encoding = files.Encoding
Strict = Annotated[bool, typer.Option("--strict", help="Fail if a value is not in the mapping.")]
Examples = Annotated[
    int, typer.Option(min=0, help="Number of examples to list for each fault; 0 lists all.")
]


def make_oracle(
    tickets: Any,
    mapping: str,
    changes: list[str] | None,
    listed: Callable[[], Iterator[dict[str, str]]] | None,
    **options: Any,
) -> TicketOracle:
    """Return the oracle of the options; UsageError for an invalid option.

    Without a file of observations they are those that `listed` yields, where there is one.
    """
    from svddtune.client.files.times import checked_pattern, duration, zone_of
    from svddtune.client.tickets.mapping_file import load_mapping
    from svddtune.client.tickets.oracle import TicketOracle

    for name in ("window", "before", "after"):
        if options[name] is not None:
            options[name] = _usage(f"--{name}", duration, options[name])
    if options["time_zone"]:
        _usage("--time-zone", zone_of, options["time_zone"])
    _usage("--observation-time", checked_pattern, options["observation_time"])
    files.check_one_stdin(
        {
            "TICKETS": tickets if isinstance(tickets, Path) else None,
            "--observations": options["observations"],
        }
    )
    loaded = load_mapping(mapping, changes or ())
    if options["observations"] is None and listed is not None:
        options |= {"observations": listed(), "id_column": ID_FIELD}
    return TicketOracle(tickets, loaded, **options)


def labeler_name(given: str, mapping: str) -> str:
    """Return the labeler's name: the one given, or one made from the mapping's name."""
    return given or f"{re.sub(r'[^A-Za-z0-9._@-]+', '-', mapping)[:57]}-replay"


def interval(text: str) -> float:
    """Return the seconds of --interval."""
    from svddtune.client.errors import UsageError
    from svddtune.client.files.times import duration

    seconds = _usage("--interval", duration, text).total_seconds()
    if seconds <= 0:
        raise UsageError(f"--interval: {text!r} is not longer than 0; write it like 500ms or 2s")
    return seconds


def _usage(option: str, check: Callable[[str], _T], value: str) -> _T:
    from svddtune.client.errors import InvalidInput, UsageError

    try:
        return check(value)
    except InvalidInput as error:
        raise UsageError(f"{option}: {error.message}") from None
