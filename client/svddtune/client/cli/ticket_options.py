"""Options of the commands that read tickets, and the oracle made from them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.completion import complete_session
from svddtune.client.cli.file_options import input_file
from svddtune.client.cli.options import with_options

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
    str,
    typer.Option(
        "--session",
        metavar="SESSION",
        help="Id, start of the id, or name of the session.",
        autocompletion=complete_session,
    ),
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
        help="Meaning of one value: inlier, outlier or abstain; inlier:0.8 if it is right with "
        "probability 0.8. Overrides the mapping. Repeatable.",
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
    typer.Option(
        "--id-field", metavar="PATH", help="Field of a ticket that holds the id of its observation."
    ),
]
KeyField = Annotated[
    str,
    typer.Option(
        "--key-field", metavar="PATH", help="Field of a ticket that holds the key to join by."
    ),
]
TimeField = Annotated[
    str,
    typer.Option(
        "--time-field", metavar="PATH", help="Field of a ticket that holds the time to join by."
    ),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketOptions:
    """How tickets are read, what their values mean, and which observations they belong to."""

    changes: Map = None
    observations: Observations = None
    observation_id: IdField = ""
    join_key: KeyField = ""
    observed: TimeField = ""
    window: Window = None
    before: Before = None
    after: After = None
    time_zone: TimeZone = ""
    several: SeveralOption = SeveralMatches.abstain
    numbers_as_text: NumbersAsText = False
    id_column: IdColumn = ""
    key_column: KeyColumn = "key"
    time_column: TimeColumn = "time"
    observation_time: ObservationTime = "iso8601"
    encoding: Encoding = "utf-8"
    strict: Strict = False

    def check(self, tickets: Path | None) -> None:
        """Raise UsageError for an invalid option."""
        from svddtune.client.files.times import checked_pattern, duration, zone_of

        for name, time in (("window", self.window), ("before", self.before), ("after", self.after)):
            if time is not None:
                _usage(f"--{name}", duration, time)
        if self.time_zone:
            _usage("--time-zone", zone_of, self.time_zone)
        _usage("--observation-time", checked_pattern, self.observation_time)
        files.check_one_stdin({"TICKETS": tickets, "--observations": self.observations})


def takes_ticket_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `TicketOptions` instead of its parameter `options`."""
    own = inspect.signature(TicketOptions, eval_str=True).parameters

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(options=TicketOptions(**{name: given.pop(name) for name in own}), **given)

    return with_options(command, run, instead_of="options", options=own.values())


def make_oracle(
    tickets: Path | None,
    mapping: str,
    options: TicketOptions,
    listed: Callable[[], Iterator[dict[str, str]]] | None,
) -> TicketOracle:
    """Return the oracle of the options; UsageError for an invalid option.

    Without a file of tickets it has none yet. Without a file of observations they are those that
    `listed` yields, where there is one.
    """
    from svddtune.client.tickets.mapping_file import load_mapping
    from svddtune.client.tickets.oracle import TicketOracle

    options.check(tickets)
    listing = listed if options.observations is None else None
    return TicketOracle(
        () if tickets is None else tickets,
        load_mapping(mapping, options.changes or ()),
        observations=listing() if listing else options.observations,
        id_column=ID_FIELD if listing else options.id_column,
        form=files.text_format(options.encoding),
        several=options.several.value,
        observation_id=options.observation_id,
        join_key=options.join_key,
        observed=options.observed,
        window=options.window,
        before=options.before,
        after=options.after,
        time_zone=options.time_zone,
        numbers_as_text=options.numbers_as_text,
        key_column=options.key_column,
        time_column=options.time_column,
        observation_time=options.observation_time,
        strict=options.strict,
    )


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
