"""Tickets as an oracle, for `tune` and for whoever has queries to answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.files.record_reader import read_records
from svddtune.client.files.records import Record
from svddtune.client.files.source import TextFormat
from svddtune.client.files.times import TimeFormat, checked_pattern, duration, zone_of
from svddtune.client.oracles.answers import Answer, reply
from svddtune.client.tickets.identity import shortened
from svddtune.client.tickets.join import IdJoin, Join, Several, WindowJoin
from svddtune.client.tickets.ledger import Decision, Ledger
from svddtune.client.tickets.mapping import TicketMapping
from svddtune.client.tickets.mapping_file import load_mapping
from svddtune.client.tickets.observations import Columns, read_observations
from svddtune.client.tickets.report import Report, make_report
from svddtune.client.tickets.ticket import TicketReader, VerdictStatus
from svddtune.client.types import Query, SkipMode

Rows = Iterable[Mapping[str, Any]]
Length = str | timedelta


class TicketOracle:
    """Answers queries from a ticket system's export, and reports what it cannot answer.

    ::

        oracle = TicketOracle("incidents.jsonl", mapping="microsoft-sentinel",
                              observation_id="IncidentName", observations="rows.csv")
        print(oracle.report().labelled)
        tune(X, Tiers([oracle, TerminalPrompt()]), ids=ids)

    A verdict is one that the mapping gives, of a closed ticket, on the one observation the ticket
    is about, without another ticket's objection. All else abstains: no ticket, an open one, a value
    that is not mapped, tickets that contradict each other, a ticket that matches several
    observations, a time that clocks showed twice. No ticket never means inlier.

    Parameters
    ----------
    tickets : path, or iterable of mappings
        CSV (.csv, .tsv), JSON lines (.jsonl, .ndjson, .json) or Parquet; or the records themselves.
        Several records of one ticket are its history; the last by update time counts.
    mapping : str, path or TicketMapping
        A shipped mapping's name (``svddtune oracle mappings``) or a .toml file.
    observations : path, or iterable of mappings, optional
        Ids, and keys and times for a join by these. Without them a join by id cannot tell which
        observations there are; a join by key and time needs them.
    values : mapping of str to str, optional
        Verdicts that replace the mapping's, e.g. ``{"BenignPositive": "inlier"}``, or
        ``"inlier:0.8"`` for a verdict that is right with probability 0.8.
    observation_id, join_key, observed : str, optional
        Fields of the tickets that replace the mapping's: the observation's id; or key and time.
    window, before, after : str or timedelta, optional
        Joins by key and time: the observation's time is at most `before` earlier and `after` later
        than the ticket's, e.g. "15m"; `window` stands for both.
    time_zone : str, optional
        Zone of times without an offset, e.g. "Europe/Berlin", where the mapping has none.
    several : "abstain", "nearest" or "all"
        The meaning of a ticket that matches several observations.
    numbers_as_text : bool, optional
        Whether whole numbers in the tickets' ids and keys are their decimal text.
    id_column, key_column, time_column : str, optional
        Fields of the observations; default id (or observation_id, observation), key and time.
    observation_time : str
        How the observations' times are written: iso8601, epoch_s, epoch_ms or a strptime pattern.
    otherwise : SkipMode
        What becomes of a query without a verdict: "others" are asked; or it is dropped.
    strict : bool
        Whether a value that the mapping does not know is an error.
    form : TextFormat, optional
        Encoding and delimiter of the files, where they are text.

    Raises
    ------
    InvalidInput
        TICKETS_INVALID, OBSERVATIONS_INVALID, MAPPING_INVALID, MAPPING_UNKNOWN, JOIN_UNDEFINED,
        TIME_INVALID, TIME_ZONE_MISSING, TIME_AMBIGUOUS or UNMAPPED_VALUES.
    """

    def __init__(
        self,
        tickets: str | Path | Rows,
        mapping: str | Path | TicketMapping,
        observations: str | Path | Rows | None = None,
        *,
        values: Mapping[str, str] | None = None,
        observation_id: str = "",
        join_key: str = "",
        observed: str = "",
        window: Length | None = None,
        before: Length | None = None,
        after: Length | None = None,
        time_zone: str = "",
        several: Several | str = Several.ABSTAIN,
        numbers_as_text: bool = False,
        id_column: str = "",
        key_column: str = "key",
        time_column: str = "time",
        observation_time: str = "iso8601",
        otherwise: SkipMode | str = SkipMode.OTHERS,
        strict: bool = False,
        form: TextFormat | None = None,
    ) -> None:
        zone = zone_of(time_zone) if time_zone else None
        if not isinstance(mapping, TicketMapping):
            mapping = load_mapping(
                mapping, [f"{value}={word}" for value, word in (values or {}).items()]
            )
        elif values:
            raise InvalidInput(
                "values= changes a mapping given by name or file; the mapping given is a "
                "TicketMapping"
            )
        mapping = mapping.in_zone(zone)
        self.mapping = replace(
            mapping,
            observation_id=observation_id or mapping.observation_id,
            join_key=join_key or mapping.join_key,
            observed=observed or mapping.observed,
            numbers_as_text=numbers_as_text or mapping.numbers_as_text,
        )
        by_window = window is not None or before is not None or after is not None
        self._reader = TicketReader(self.mapping, by_window=by_window)
        columns = Columns(
            id_column, key_column, time_column, TimeFormat(checked_pattern(observation_time), zone)
        )
        known = (
            None
            if observations is None
            else read_observations(observations, columns, by_window=by_window, form=form)
        )
        join: Join
        if not by_window:
            join = IdJoin(known)
        elif known is None:
            raise InvalidInput(
                "A join by key and time needs all observations, to see whether a ticket matches "
                "several. Give --observations FILE (observations=)",
                reason="JOIN_UNDEFINED",
            )
        else:
            join = WindowJoin(known, before=_length(before, window), after=_length(after, window))
        self._observation_count = None if known is None else len(known)
        self._ledger = Ledger(join, _several(several))
        self._otherwise = SkipMode(otherwise)
        self._strict = strict
        self.add(_records(tickets, form))

    @property
    def provenance(self) -> str:
        """What the verdicts rest on, as labels and the result's manifest have it."""
        return shortened(self.mapping.provenance)

    def __call__(self, query: Query) -> Answer:
        """Return the verdict on the query's observation, or what becomes of it without one.

        A verdict with a confidence is a `Judgement`.
        """
        judgement = self.decision(query.observation_id).judgement
        return self._otherwise if judgement is None else reply(judgement)

    def decision(self, observation_id: str) -> Decision:
        """Return what the tickets say about an observation, and which they are.

        Parameters
        ----------
        observation_id : str
            As the dataset has it.
        """
        return self._ledger.decision(observation_id)

    def decisions(self) -> dict[str, Decision]:
        """Return the observations that have one verdict, by id."""
        return {
            name: decision
            for name, decision in self._ledger.observations()
            if decision.verdict is not None
        }

    def add(self, records: Iterable[Record]) -> list[str]:
        """Take further records in; return the ids of the observations they are about.

        Parameters
        ----------
        records : iterable of Record
            Rows of an export, oldest first.

        Raises
        ------
        InvalidInput
            UNMAPPED_VALUES: with strict reading, a value that the mapping does not know.
        """
        suspect = False
        for record in records:
            ticket = self._reader.read(record)
            suspect |= ticket.verdict_status is VerdictStatus.UNMAPPED
            self._ledger.add(ticket)
        if suspect and self._strict:
            self._check_values()
        return self._ledger.take_changed()

    def report(self, *, examples: int = 20) -> Report:
        """Return what there is and what says nothing.

        Parameters
        ----------
        examples : int
            How many of each kind to name, 0 for all; default 20.
        """
        return make_report(
            self._ledger,
            self.mapping,
            observations=self._observation_count,
            absent_fields=self._reader.absent if self._ledger.records else (),
            notes=self._reader.notes,
            examples=examples,
        )

    def _check_values(self) -> None:
        unmapped = self.report().unmapped
        if unmapped:
            listed = ", ".join(f"{value!r} ({count})" for value, count in unmapped.items())
            raise InvalidInput(
                f"Mapping {self.mapping.name} does not know these values: {listed}. "
                'Map them with --map "VALUE=inlier|outlier|abstain"',
                reason="UNMAPPED_VALUES",
                metadata={"values": listed},
            )


def _records(tickets: str | Path | Rows, form: TextFormat | None) -> Iterable[Record]:
    if isinstance(tickets, str | Path):
        return read_records(Path(tickets), form)
    return (Record(values, f"ticket {row}") for row, values in enumerate(tickets))


def _several(value: Several | str) -> Several:
    try:
        return Several(value)
    except ValueError:
        raise InvalidInput(
            f"several is {value!r}; allowed: abstain, nearest, all.",
            metadata={"value": str(value)},
        ) from None


def _length(one: Length | None, both: Length | None) -> timedelta:
    value = one if one is not None else both
    if value is None:
        return timedelta()
    length = duration(value) if isinstance(value, str) else value
    if length < timedelta():
        raise InvalidInput(
            f"The window {length} is negative: give 0 or more", metadata={"value": str(length)}
        )
    return length
