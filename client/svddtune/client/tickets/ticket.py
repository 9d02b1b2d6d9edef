"""One record of a ticket, read by a mapping."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from svddtune.client.errors import InvalidInput
from svddtune.client.files.records import MISSING, Record
from svddtune.client.files.times import AmbiguousTime, TimeFormat
from svddtune.client.tickets.identity import Identity, identity
from svddtune.client.tickets.mapping import TicketMapping
from svddtune.client.tickets.values import Unmapped, shown
from svddtune.client.types import Judgement, Verdict
from svddtune.text import visible

_UTC = ZoneInfo("UTC")
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/", re.ASCII)


class VerdictStatus(StrEnum):
    """What a ticket says about the verdict."""

    VERDICT = "verdict"
    """Inlier or outlier."""
    ABSTAINS = "abstains"
    """A value that is mapped to abstain."""
    OPEN = "open"
    """It is not closed; whatever verdict it has is not final."""
    NONE = "none"
    """It is closed, or has no state, and has no verdict."""
    UNMAPPED = "unmapped"
    """A value that the mapping does not know."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The state of a ticket in one record.

    `value` is the verdict as the product writes it, "" for none. `observed` and `updated` are UTC;
    `order_doubt` and `time_doubt` say why an update or observation time cannot be told, and
    `order_missing` that an update time is not there although the mapping names one.
    """

    key: Identity
    verdict_status: VerdictStatus
    judgement: Judgement | None
    value: str
    place: str
    observation_ids: tuple[Identity, ...] = ()
    join_key: Identity | None = None
    observed: datetime | None = None
    updated: datetime | None = None
    time_doubt: str = ""
    order_doubt: str = ""
    order_missing: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict without its confidence."""
        return None if self.judgement is None else self.judgement.verdict


class TicketReader:
    """Reads records as tickets, by one mapping.

    Parameters
    ----------
    by_window : bool
        Whether key and time are read, for a join by these; else the observation's id.

    Raises
    ------
    InvalidInput
        JOIN_UNDEFINED where the mapping does not name the fields that the join needs.
    """

    def __init__(self, mapping: TicketMapping, *, by_window: bool) -> None:
        self._mapping = mapping
        self._by_window = by_window
        needed = [("key", mapping.key), *(("verdict", path) for path in mapping.verdict)]
        if mapping.status:
            needed.append(("status", mapping.status))
        if by_window:
            needed += [("join_key", mapping.join_key), ("observed", mapping.observed)]
        else:
            needed.append(("observation_id", mapping.observation_id))
        for role, path in needed:
            if not path:
                raise _undefined(mapping, role)
        self._needed = needed
        # Fields that no record so far had.
        self._absent = dict.fromkeys(path for _, path in needed)
        self._slashed = ""

    @property
    def absent(self) -> list[str]:
        """Fields that the mapping needs and no record had."""
        return list(self._absent)

    @property
    def notes(self) -> list[str]:
        """Remarks on how the records were read, one sentence each."""
        if not self._slashed:
            return []
        return [
            f"Times such as {self._slashed!r} are read with the month first, as mapping "
            f"{self._mapping.name} says. If the day comes first, set time.format in your own "
            f"mapping file."
        ]

    def read(self, record: Record) -> Ticket:
        """Return the ticket that a record is about.

        Raises
        ------
        InvalidInput
            TICKETS_INVALID for a missing column or key, or what is no plain value; TIME_INVALID
            and TIME_ZONE_MISSING for times.
        """
        mapping = self._mapping
        self._check_fields(record)
        key = record.scalar(mapping.key)
        if key is None or key == "":
            raise InvalidInput(
                f"{record.place}: field {mapping.key!r}, the ticket's key, is empty or missing",
                reason="TICKETS_INVALID",
                metadata={"field": mapping.key, "place": record.place},
            )
        verdict_status, judgement, value = self._verdict(record)
        updated, order_doubt = self._time(record, mapping.updated, mapping.updated_format)
        order_missing = ""
        if mapping.updated and updated is None and not order_doubt:
            order_missing = (
                f"{record.place}: field {mapping.updated!r}, which orders a ticket's records, is "
                f"empty or missing"
            )
        observed, time_doubt, join_key = None, "", None
        ids: tuple[Identity, ...] = ()
        if self._by_window:
            observed, time_doubt = self._time(record, mapping.observed, mapping.observed_format)
            join_key = self._identity(record.scalar(mapping.join_key))
        else:
            ids = self._ids(record)
        return Ticket(
            key=identity(key),
            verdict_status=verdict_status,
            judgement=judgement,
            value=value,
            place=record.place,
            observation_ids=ids,
            join_key=join_key,
            observed=observed,
            updated=updated,
            time_doubt=time_doubt,
            order_doubt=order_doubt,
            order_missing=order_missing,
        )

    def _check_fields(self, record: Record) -> None:
        if not self._absent:
            return
        for role, path in self._needed:
            if record.lacks_column(path) and self._time_path(record, path) == path:
                names = list(record.values)
                shown_names = ", ".join(map(visible, names[:12])) + (
                    ", ..." if len(names) > 12 else ""
                )
                raise InvalidInput(
                    f"{record.place}: no column {path!r} (fields.{role} of mapping "
                    f"{self._mapping.name}) among {shown_names}",
                    reason="TICKETS_INVALID",
                    metadata={"field": path, "place": record.place},
                )
        for path in list(self._absent):
            found = self._time_path(record, path)
            there = not record.lacks_column(found) if record.columns else True
            if there and (record.columns or record.field(found) is not MISSING):
                del self._absent[path]

    def _verdict(self, record: Record) -> tuple[VerdictStatus, Judgement | None, str]:
        parts = [record.scalar(path) for path in self._mapping.verdict]
        while parts and parts[-1] in (None, ""):
            parts.pop()
        value = shown(parts)
        if self._is_open(record):
            return VerdictStatus.OPEN, None, value
        if not parts or parts[0] in (None, ""):
            return VerdictStatus.NONE, None, value
        whole = ["" if part is None else part for part in parts]
        meaning = self._mapping.values.find(whole, typed=record.typed)
        if isinstance(meaning, Unmapped):
            return VerdictStatus.UNMAPPED, None, value
        return VerdictStatus.ABSTAINS if meaning is None else VerdictStatus.VERDICT, meaning, value

    def _is_open(self, record: Record) -> bool:
        if self._mapping.closed is None:
            return False
        status = record.scalar(self._mapping.status)
        if status is None:
            return True
        return isinstance(self._mapping.closed.find([status], typed=record.typed), Unmapped)

    def _time(self, record: Record, path: str, form: TimeFormat) -> tuple[datetime | None, str]:
        found = self._time_path(record, path)
        if found != path:
            form = replace(form, zone=_UTC)
        value = record.scalar(found) if path else None
        if value is None or value == "":
            return None, ""
        try:
            moment = form.parse(value, record.place, found)
        except AmbiguousTime as error:
            return None, error.message
        if form.also and not self._slashed and _is_slashed(value):
            self._slashed = value
        return moment, ""

    def _time_path(self, record: Record, path: str) -> str:
        """Return the path of a record's time: the given one, or its column for a time zone.

        Raises
        ------
        InvalidInput
            TICKETS_INVALID for a column in a zone of no known name.
        """
        times = (self._mapping.updated, self._mapping.observed)
        if path not in times or record.field(path) is not MISSING:
            return path
        if record.field(f"{path} [UTC]") is not MISSING:
            return f"{path} [UTC]"
        zoned = next((name for name in record.values if name.startswith(f"{path} [")), None)
        if zoned is not None:
            raise InvalidInput(
                f"{record.place}: there is no field {path!r}, and the time zone of {zoned!r} is "
                f"not known: export times in UTC",
                reason="TICKETS_INVALID",
                metadata={"field": path, "place": record.place},
            )
        return path

    def _ids(self, record: Record) -> tuple[Identity, ...]:
        value = record.field(self._mapping.observation_id)
        values = value if isinstance(value, list) else [value]
        found = dict.fromkeys(self._identity(item) for item in values if item is not MISSING)
        return tuple(item for item in found if item is not None)

    def _identity(self, value: Any) -> Identity | None:
        if value is None or value == "":
            return None
        return identity(value, numbers_as_text=self._mapping.numbers_as_text)


def _is_slashed(value: Any) -> bool:
    """Return whether month and day of a time could be swapped."""
    found = _SLASHED.match(value) if isinstance(value, str) else None
    return found is not None and all(int(part) <= 12 for part in found.groups())


def _undefined(mapping: TicketMapping, role: str) -> InvalidInput:
    if role == "observation_id":
        text = (
            "which field of a ticket holds the observation's id: give --id-field PATH "
            "(observation_id=), or --key-field PATH with --window (join_key=, window=)"
        )
    elif role == "join_key":
        text = "which field of a ticket holds the key to join by: give --key-field PATH (join_key=)"
    else:
        text = (
            "which field of a ticket holds the time to join by: give --time-field PATH (observed=)"
        )
    return InvalidInput(
        f"Mapping {mapping.name} does not say {text}, or set fields.{role} in a mapping file",
        reason="JOIN_UNDEFINED",
        metadata={"mapping": mapping.name, "key": f"fields.{role}"},
    )
