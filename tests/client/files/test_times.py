from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client.errors import InvalidInput
from svddtune.client.files.times import (
    AmbiguousTime,
    TimeFormat,
    checked_pattern,
    duration,
    zone_of,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2024, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pattern", "zone", "value"),
    [
        ("iso8601", None, "2024-07-01T12:00:00Z"),
        ("iso8601", None, "2024-07-01T14:00:00.000+0200"),
        ("iso8601", None, "2024-07-01 12:00:00.0000000+00:00"),
        ("iso8601", BERLIN, "2024-07-01T14:00:00"),
        ("iso8601", BERLIN, "2024-07-01T12:00:00Z"),  # what it says itself is stronger
        ("iso8601", None, NOON),
        ("iso8601", BERLIN, datetime(2024, 7, 1, 14)),
        ("epoch_s", None, 1719835200),
        ("epoch_s", None, "1719835200.0"),
        ("epoch_ms", None, 1719835200000),
        ("epoch_ms", BERLIN, "1719835200000"),
        ("epoch_ms", None, NOON),  # Parquet knows instants whatever the mapping says
        ("%d.%m.%Y %H:%M", BERLIN, "01.07.2024 14:00"),
        ("%Y-%m-%d %H:%M:%S %z", None, "2024-07-01 14:00:00 +0200"),
    ],
)
def test_one_instant_written_in_many_ways(pattern: str, zone: ZoneInfo | None, value: Any) -> None:
    assert TimeFormat(pattern, zone).parse(value, "t line 2", "when") == NOON


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ("iso8601", "yesterday"),
        ("iso8601", 1719835200),
        ("iso8601", "2024-02-30T00:00:00Z"),
        ("epoch_s", "2024-07-01"),
        ("epoch_s", True),
        ("epoch_ms", "1e99"),
        ("epoch_s", "NaN"),
        ("epoch_s", "Infinity"),
        ("%d.%m.%Y", "2024-07-01"),
        ("iso8601", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_invalid_time_is_reported_with_place_and_field(pattern: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        TimeFormat(pattern).parse(value, "t.csv line 2", "when")
    assert caught.value.reason == "TIME_INVALID"
    assert caught.value.message.startswith(f"t.csv line 2, field 'when': {value!r} is ")


def test_a_time_without_offset_needs_a_zone() -> None:
    for value in ("2024-07-01T14:00:00", date(2024, 7, 1)):
        with pytest.raises(InvalidInput) as caught:
            TimeFormat().parse(value, "t.csv line 9", "when")
        assert caught.value.reason == "TIME_ZONE_MISSING"
        assert "t.csv line 9" in caught.value.message
        assert "--time-zone Europe/Berlin" in caught.value.message


@pytest.mark.parametrize(
    ("value", "what"),
    [("2024-10-27T02:30:00", "occurred twice"), ("2024-03-31T02:30:00", "did not exist")],
)
def test_times_that_clocks_showed_twice_or_never_are_ambiguous(value: str, what: str) -> None:
    with pytest.raises(AmbiguousTime, match=what):
        TimeFormat("iso8601", BERLIN).parse(value, "t line 1", "when")


@given(
    moment=st.datetimes(datetime(1980, 1, 1), datetime(2037, 1, 1)),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_a_local_time_is_the_one_instant_that_has_it_or_ambiguous(
    moment: datetime, zone: str
) -> None:
    # By definition: all instants within a day at which a clock in the zone shows this time.
    info = ZoneInfo(zone)
    offsets = {
        (moment.replace(tzinfo=UTC) + timedelta(hours=h)).astimezone(info).utcoffset()
        for h in range(-26, 27)
    }
    instants = {
        instant
        for offset in offsets
        if offset is not None
        and (instant := (moment - offset).replace(tzinfo=UTC)).astimezone(info).replace(tzinfo=None)
        == moment
    }
    if len(instants) == 1:
        assert TimeFormat("iso8601", info).parse(moment, "", "") == instants.pop()
    else:
        with pytest.raises(AmbiguousTime):
            TimeFormat("iso8601", info).parse(moment, "", "")


def test_durations_have_units() -> None:
    assert duration("15m") == timedelta(minutes=15)
    assert duration("1h30m") == timedelta(minutes=90)
    assert duration("0s") == timedelta()
    assert duration("1.5s500ms") == timedelta(seconds=2)
    for text in ("15", "m", "-5m", "5 m", "5m!", "", "999999999999d"):
        with pytest.raises(InvalidInput):
            duration(text)


def test_zones_and_patterns_are_checked() -> None:
    assert zone_of("Europe/Berlin") == BERLIN
    for name in ("Berlin", "../etc/passwd", "", "Europe"):
        with pytest.raises(InvalidInput, match="is not a time zone"):
            zone_of(name)
    assert checked_pattern("%d/%m/%Y") == "%d/%m/%Y"
    for pattern in ("rfc3339", "%Q %Y"):
        with pytest.raises(InvalidInput):
            checked_pattern(pattern)
