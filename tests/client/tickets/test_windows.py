"""Joins by key and time: windows, zones, and times that cannot be told."""

from pathlib import Path

import pytest
from tests.client.tickets.exports import WINDOW, at, mapping_file, row, ticket, verdicts

from svddtune.client import InvalidInput, TicketOracle, Verdict


def test_a_join_by_key_and_time_is_a_closed_interval(desk: Path) -> None:
    rows = [row("early", "09:45:00"), row("late", "10:15:00"), row("other", "10:00:00", "db")]
    oracle = TicketOracle([at(0)], desk, rows[:1], **WINDOW)
    assert verdicts(oracle) == {"early": Verdict.OUTLIER}
    oracle = TicketOracle([at(0)], desk, rows, **WINDOW)
    assert verdicts(oracle) == {}
    (multiple,) = oracle.report().several.first
    assert multiple.observation_ids == ("early", "late")
    oracle = TicketOracle([at(0)], desk, rows, before="15m")
    assert set(verdicts(oracle)) == {"early"}
    oracle = TicketOracle([at(0)], desk, rows, before="0s", after="15m")
    assert set(verdicts(oracle)) == {"late"}
    oracle = TicketOracle([at(0)], desk, rows, before="899s", after="899s")
    assert oracle.report().unmatched.count == 1


def test_several_matches_are_handled_by_the_option(desk: Path) -> None:
    rows = [row("far", "09:50:00"), row("near", "10:04:00")]
    for several, expected in (("abstain", set()), ("nearest", {"near"}), ("all", {"far", "near"})):
        oracle = TicketOracle([at(0)], desk, rows, several=several, **WINDOW)
        assert set(verdicts(oracle)) == expected, several
    even = [row("before", "09:50:00"), row("after", "10:10:00")]
    oracle = TicketOracle([at(0)], desk, even, several="nearest", **WINDOW)
    assert verdicts(oracle) == {}
    assert oracle.report().several.count == 1
    with pytest.raises(InvalidInput, match="several is 'some'; allowed"):
        TicketOracle([at(0)], desk, rows, several="some", **WINDOW)


def test_time_without_a_zone_is_refused_with_its_row(desk: Path) -> None:
    naive = [at(0) | {"seen": "2024-05-01T12:00:00"}]
    rows = [row("r", "10:00:00")]
    with pytest.raises(InvalidInput, match=r"ticket 0, field 'seen': .* has no offset") as caught:
        TicketOracle(naive, desk, rows, **WINDOW)
    assert caught.value.reason == "TIME_ZONE_MISSING"
    oracle = TicketOracle(naive, desk, rows, time_zone="Europe/Berlin", **WINDOW)
    assert set(verdicts(oracle)) == {"r"}
    oracle = TicketOracle(naive, desk, rows, time_zone="UTC", **WINDOW)
    assert verdicts(oracle) == {}
    local = [{"id": "r", "key": "web", "time": "2024-05-01T12:00:00"}]
    with pytest.raises(InvalidInput, match="observation 0, field 'time'"):
        TicketOracle([at(0)], desk, local, **WINDOW)
    oracle = TicketOracle([at(0)], desk, local, time_zone="Europe/Berlin", **WINDOW)
    assert set(verdicts(oracle)) == {"r"}


def test_time_zone_of_the_mapping_has_priority_over_the_option(desk: Path) -> None:
    text = desk.read_text() + '\n[time]\nzone = "UTC"\n'
    utc = mapping_file(desk.parent, text, "utc.toml")
    naive = [at(0) | {"seen": "2024-05-01T10:00:00"}]
    local = [{"id": "r", "key": "web", "time": "2024-05-01T12:00:00"}]
    oracle = TicketOracle(naive, utc, local, time_zone="Europe/Berlin", **WINDOW)
    assert set(verdicts(oracle)) == {"r"}


def test_ticket_with_an_ambiguous_local_time_abstains_and_is_reported(desk: Path) -> None:
    twice = at(0) | {"seen": "2024-10-27T02:30:00"}
    rows = [{"id": "r", "key": "web", "time": "2024-10-27T02:30:00+02:00"}]
    oracle = TicketOracle([twice], desk, rows, time_zone="Europe/Berlin", **WINDOW)
    assert verdicts(oracle) == {}
    (doubt,) = oracle.report().doubts.first
    assert doubt.ticket == "T0"
    assert "2024-10-27 02:30:00 occurred twice in Europe/Berlin" in doubt.why
    changed = ticket("U", row="r", changed="2024-10-27T02:30:00")
    oracle = TicketOracle([changed], desk, [{"id": "r"}], time_zone="Europe/Berlin")
    assert set(verdicts(oracle)) == {"r"}  # the only record needs no order
    oracle = TicketOracle([changed, changed], desk, [{"id": "r"}], time_zone="Europe/Berlin")
    assert verdicts(oracle) == {}
    with pytest.raises(InvalidInput, match=r"observation 0, field 'time': .* occurred twice"):
        TicketOracle(
            [at(0)],
            desk,
            [{"id": "r", "key": "web", "time": "2024-10-27T02:30:00"}],
            time_zone="Europe/Berlin",
            **WINDOW,
        )
