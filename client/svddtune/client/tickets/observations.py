"""The observations that tickets are joined to: ids, and keys and times where there are any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.files.record_reader import read_records
from svddtune.client.files.records import MISSING, Record
from svddtune.client.files.source import TextFormat
from svddtune.client.files.times import TimeFormat
from svddtune.client.tickets.identity import Identity, identity
from svddtune.text import without_formula_mark

OBSERVATION_FILE = frozenset({"id", "key", "time"})
"""Columns of the files that ``svddtune observations`` writes."""
_ID_NAMES = ("id", "observation_id", "observation")


@dataclass(frozen=True, slots=True)
class KeyedObservation:
    """One observation; key and time are None where there are none. The time is UTC."""

    id: Identity
    key: Identity | None = None
    time: datetime | None = None

    @property
    def name(self) -> str:
        """The id as the session knows it: text."""
        return self.id.text


@dataclass(frozen=True, slots=True)
class Columns:
    """Where observations have what. An empty `id` stands for id, observation_id or observation."""

    id: str = ""
    key: str = "key"
    time: str = "time"
    time_format: TimeFormat = field(default_factory=TimeFormat)


def read_observations(
    source: str | Path | Iterable[Mapping[str, Any]],
    columns: Columns,
    *,
    by_window: bool,
    form: TextFormat | None = None,
) -> list[KeyedObservation]:
    """Return the observations of a file (CSV, JSON lines, Parquet), or of mappings.

    Parameters
    ----------
    source : path or iterable of mapping
        The file, or its rows.
    columns : Columns
        Which columns hold ids, keys and times.
    by_window : bool
        Whether keys and times are read too.
    form : TextFormat, optional
        Encoding and delimiter of a text file.

    Raises
    ------
    InvalidInput
        OBSERVATIONS_INVALID with the place of the first fault; TIME_INVALID, TIME_ZONE_MISSING and
        TIME_AMBIGUOUS for times.
    """
    observations: list[KeyedObservation] = []
    places: dict[str, str] = {}
    id_column = columns.id
    for record in _records(source, form):
        if not id_column:
            id_column = _id_column(record)
        observation = _observation(record, id_column, columns, by_window=by_window)
        earlier = places.setdefault(observation.name, record.place)
        if earlier is not record.place:
            raise _fault(f"{record.place}: id {observation.name!r} is also the id of {earlier}")
        observations.append(observation)
    if not observations:
        raise _fault(
            f"{source if isinstance(source, str | Path) else 'observations'}: there are no "
            f"observations"
        )
    return observations


def _records(
    source: str | Path | Iterable[Mapping[str, Any]], form: TextFormat | None
) -> Iterator[Record]:
    if isinstance(source, str | Path):
        return read_records(Path(source), form)
    return (Record(values, f"observation {row}") for row, values in enumerate(source))


def _id_column(record: Record) -> str:
    for name in _ID_NAMES:
        if record.field(name) is not MISSING:
            return name
    raise _fault(
        f"{record.place}: no column id, observation_id or observation among "
        f"{', '.join(record.values)}. Name the id column with --id-column"
    )


def _observation(
    record: Record, id_column: str, columns: Columns, *, by_window: bool
) -> KeyedObservation:
    # Files of `svddtune observations` mark in CSV what a spreadsheet would take for a formula.
    marked = not record.typed and record.values.keys() >= OBSERVATION_FILE
    plain = without_formula_mark if marked else str
    value = _needed(record, id_column, "--id-column")
    value = plain(value) if isinstance(value, str) else value
    if value is None or value == "":
        raise _fault(f"{record.place}: field {id_column!r}, the id, is empty")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise _fault(
            f"{record.place}: field {id_column!r} is {value!r}; ids must be text or whole numbers"
        )
    if not by_window:
        return KeyedObservation(identity(value))
    key = _needed(record, columns.key, "--key-column")
    key = plain(key) if isinstance(key, str) else key
    time = _needed(record, columns.time, "--time-column")
    return KeyedObservation(
        identity(value),
        None if key is None or key == "" else identity(key),
        None
        if time is None or time == ""
        else columns.time_format.parse(time, record.place, columns.time),
    )


def _needed(record: Record, column: str, option: str) -> Any:
    if record.field(column) is MISSING:
        raise _fault(
            f"{record.place}: no field {column!r} among {', '.join(record.values)}. Name the "
            f"field with {option}"
        )
    return record.scalar(column)


def _fault(text: str) -> InvalidInput:
    return InvalidInput(text, reason="OBSERVATIONS_INVALID")
