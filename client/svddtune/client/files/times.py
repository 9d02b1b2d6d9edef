"""Times as products write them -> instants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from svddtune.client.errors import InvalidInput
from svddtune.client.files.numbers import parse_number

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"epoch_s": 1_000_000, "epoch_ms": 1_000}
EPOCHS = tuple(_UNITS)
"""Formats that are numbers."""
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class AmbiguousTime(InvalidInput):
    """A local time that occurred twice, or not at all, because clocks were changed."""

    default_reason = "TIME_AMBIGUOUS"


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How a time is written: "iso8601", "epoch_s", "epoch_ms", or a pattern as strptime has it.

    `zone` is that of times without an offset; None where there is none to assume. `also` has
    further patterns, which are tried in their order.
    """

    pattern: str = "iso8601"
    zone: ZoneInfo | None = None
    also: tuple[str, ...] = ()

    def parse(self, value: Any, place: str, field: str) -> datetime:
        """Return the instant, in UTC.

        Raises
        ------
        AmbiguousTime
            For a local time that clocks showed twice or never.
        InvalidInput
            TIME_INVALID for what is not in this format, TIME_ZONE_MISSING for a time without an
            offset where there is no zone.
        """
        if self.pattern in _UNITS and not isinstance(value, date):
            return self._from_epoch(value, place, field)
        moment = self._moment(value, place, field)
        if moment.tzinfo is not None:
            try:
                return moment.astimezone(UTC)
            except OverflowError:
                raise _out_of_range(place, field, value) from None
        if self.zone is None:
            raise _fault(
                f"{place}, field {field!r}: {value!r} has no offset from UTC; give its time "
                f"zone, e.g. --time-zone Europe/Berlin",
                "TIME_ZONE_MISSING",
                field,
                value,
            )
        try:
            return self._from_local(moment, place, field)
        except OverflowError:
            raise _out_of_range(place, field, value) from None

    def _from_epoch(self, value: Any, place: str, field: str) -> datetime:
        unit = "seconds" if self.pattern == "epoch_s" else "milliseconds"
        try:
            if isinstance(value, bool):
                raise ValueError
            text = str(value)
            if parse_number(text) is None:
                raise ValueError
            number = Decimal(text.strip())
            return _EPOCH + timedelta(microseconds=round(number * _UNITS[self.pattern]))
        except (ValueError, InvalidOperation, OverflowError):
            raise _fault(
                f"{place}, field {field!r}: {value!r} is not a time in {unit} since 1970",
                "TIME_INVALID",
                field,
                value,
            ) from None

    def _moment(self, value: Any, place: str, field: str) -> datetime:
        if isinstance(value, datetime):
            return value
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day)
        patterns = (self.pattern, *self.also)
        for pattern in patterns if isinstance(value, str) else ():
            try:
                return _read(value.strip(), pattern)
            except ValueError:
                continue
        wanted = " or ".join("ISO 8601" if one == "iso8601" else repr(one) for one in patterns)
        raise _fault(
            f"{place}, field {field!r}: {value!r} is not a time written as {wanted}",
            "TIME_INVALID",
            field,
            value,
        )

    def _from_local(self, moment: datetime, place: str, field: str) -> datetime:
        first = moment.replace(tzinfo=self.zone, fold=0)
        second = moment.replace(tzinfo=self.zone, fold=1)
        if first.utcoffset() != second.utcoffset():
            there = first.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) == moment
            what = "occurred twice" if there else "did not exist"
            raise AmbiguousTime(
                f"{place}, field {field!r}: {moment} {what} in {self.zone}, because clocks were "
                f"changed; export times with their offset from UTC",
                metadata={"field": field, "value": str(moment)},
            )
        return first.astimezone(UTC)


def _read(text: str, pattern: str) -> datetime:
    if not all(char.isascii() for char in text if char.isdigit()):
        raise ValueError("only the digits 0 to 9 can be read")
    return (
        datetime.fromisoformat(text) if pattern == "iso8601" else datetime.strptime(text, pattern)
    )


def checked_pattern(pattern: str) -> str:
    """Return a format's name or pattern, or raise InvalidInput where it is none."""
    if pattern == "iso8601" or pattern in _UNITS:
        return pattern
    if "%" in pattern:
        sample = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC).strftime(pattern)
        try:
            datetime.strptime(sample, pattern)
        except ValueError as error:
            raise InvalidInput(f"{pattern!r} is not a valid time pattern: {error}") from None
        return pattern
    raise InvalidInput(
        f"{pattern!r} is not a time format; use iso8601, epoch_s, epoch_ms "
        "or a pattern such as '%Y-%m-%d %H:%M:%S'"
    )


def zone_of(name: str) -> ZoneInfo:
    """Return the zone of that name in the IANA data, or raise InvalidInput."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidInput(
            f"{name!r} is not a time zone; use a name such as UTC or Europe/Berlin",
            metadata={"value": name},
        ) from None


def duration(text: str) -> timedelta:
    """Return how long "90s", "15m", "2h" or "1h30m" is.

    Raises
    ------
    InvalidInput
        For anything else; a number alone has no unit.
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise InvalidInput(
            f"{text!r} is not a duration; write it like 90s, 15m, 2h or 1h30m",
            metadata={"value": text},
        )
    try:
        lengths = [timedelta(seconds=float(number) * _SECONDS[unit]) for number, unit in parts]
        return sum(lengths, timedelta())
    except OverflowError:
        raise InvalidInput(f"{text!r} is too long a duration", metadata={"value": text}) from None


def _out_of_range(place: str, field: str, value: Any) -> InvalidInput:
    return _fault(
        f"{place}, field {field!r}: {value!r} is before year 1 or after year 9999 in UTC",
        "TIME_INVALID",
        field,
        value,
    )


def _fault(text: str, reason: str, field: str, value: Any) -> InvalidInput:
    return InvalidInput(text, reason=reason, metadata={"field": field, "value": str(value)})
