import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.tickets.exports import DESK, csv_text, json_lines, mapping_file, ticket

from svddtune.client import InvalidInput, Query, SkipMode, TicketOracle, Tiers, Verdict
from svddtune.client.tickets.mapping_file import load_mapping


def query(observation_id: str) -> Query:
    return Query(
        number=1,
        observation_id=observation_id,
        row=0,
        features=np.zeros(2),
        display={},
        why="",
        score=0.0,
        lease_id="lease",
        lease_expires=None,
    )


def verdicts(oracle: TicketOracle) -> dict[str, Verdict | None]:
    return {name: decision.verdict for name, decision in oracle.decisions().items()}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    return mapping_file(tmp_path)


def test_it_answers_what_it_knows_and_passes_on_the_rest(desk: Path) -> None:
    records = [ticket("a"), ticket("b", "false alarm"), ticket("c", "benign")]
    oracle = TicketOracle(records, desk, [{"id": name} for name in "abcd"])
    assert [oracle(query(name)) for name in "abcd"] == [
        Verdict.OUTLIER,
        Verdict.INLIER,
        SkipMode.OTHERS,
        SkipMode.OTHERS,
    ]
    tiers = Tiers([oracle, lambda q: "unsure"])
    assert [tiers(query(name)) for name in "ac"] == [Verdict.OUTLIER, Verdict.UNSURE]
    alone = TicketOracle(records, desk, otherwise=SkipMode.DROP)
    assert alone(query("c")) is SkipMode.DROP


def test_the_report_accounts_for_every_ticket(desk: Path) -> None:
    records = [
        ticket("a"),
        ticket("b", "false alarm"),
        ticket("b2", "confirmed", row="b"),
        ticket("c", "benign"),
        ticket("d", state="open"),
        ticket("e", ""),
        ticket("f", "Confirmed"),
        ticket("g", row="A"),
        ticket("h", row=["a", "i"]),
        ticket("j", row="a"),
        ticket("k", row=None),
        ticket("a", "confirmed", row="a"),
    ]
    oracle = TicketOracle(records, desk, [{"id": name} for name in "abcdefghi"])
    report = oracle.report()
    assert (report.records, report.tickets, report.observations) == (12, 11, 9)
    assert (report.inliers, report.outliers, report.covered) == (0, 1, 6)
    assert report.matched == 8
    assert (report.unmatched.count, report.unmatched.first) == (2, ("g", "k"))
    assert report.unmatched_with_verdict == 2
    assert [(m.ticket, m.observation_ids) for m in report.several.first] == [("h", ("a", "i"))]
    assert [(c.observation_id, dict(c.verdicts)) for c in report.clashes.first] == [
        ("b", {"b": Verdict.INLIER, "b2": Verdict.OUTLIER})
    ]
    assert [(n.ticket, n.ticket_has, n.observation_has) for n in report.near_misses.first] == [
        ("g", "A", "a")
    ]
    assert report.unmapped == {"Confirmed": 1}
    assert report.same_verdict_twice == 1
    rows = {(v.value, v.standing.value, v.tickets, v.matched) for v in report.values}
    assert rows == {
        ("confirmed", "verdict", 6, 3),
        ("false alarm", "verdict", 1, 1),
        ("benign", "abstains", 1, 1),
        ("confirmed", "open", 1, 1),
        ("", "none", 1, 1),
        ("Confirmed", "unmapped", 1, 1),
    }
    assert sum(v.tickets for v in report.values) == report.tickets
    assert any("create the session with --audit" in warning for warning in report.warnings)
    assert any("All verdicts are outliers" in warning for warning in report.warnings)
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["labelled"] == 1


def test_examples_are_limited_and_counts_are_not(desk: Path) -> None:
    oracle = TicketOracle([ticket(f"t{n}") for n in range(50)], desk, [{"id": "x"}])
    assert oracle.report(examples=3).unmatched.first == ("t0", "t1", "t2")
    assert oracle.report(examples=3).unmatched.count == 50
    assert len(oracle.report(examples=0).unmatched.first) == 50


def test_what_the_mapping_does_not_know_is_an_error_where_that_is_wanted(desk: Path) -> None:
    records = [ticket("a", "?"), ticket("b", "?"), ticket("c", "fishy"), ticket("d")]
    with pytest.raises(InvalidInput) as caught:
        TicketOracle(records, desk, strict=True)
    assert caught.value.reason == "UNMAPPED_VALUES"
    assert "'?' (2), 'fishy' (1)" in caught.value.message
    oracle = TicketOracle(records, desk, strict=True, values={"?": "abstain", "fishy": "outlier"})
    assert verdicts(oracle) == {"c": Verdict.OUTLIER, "d": Verdict.OUTLIER}


def test_numbers_do_not_join_text_unless_the_owner_says_so(desk: Path, tmp_path: Path) -> None:
    records = [ticket("t1", row=7), ticket("t2", row="08"), ticket("t3", row="9")]
    rows = tmp_path / "rows.csv"
    rows.write_text("id\n7\n8\n9\n")
    oracle = TicketOracle(records, desk, rows)
    assert verdicts(oracle) == {"9": Verdict.OUTLIER}
    misses = [(n.ticket_has, n.observation_has) for n in oracle.report().near_misses.first]
    assert misses == [("7 (number)", "7"), ("08", "8")]
    assert any("--numbers-as-text" in warning for warning in oracle.report().warnings)
    oracle = TicketOracle(records, desk, rows, numbers_as_text=True)
    assert set(verdicts(oracle)) == {"7", "9"}
    lines = json_lines(tmp_path / "rows.jsonl", [{"id": 7}, {"id": 8}])
    assert set(verdicts(TicketOracle(records, desk, lines))) == {"7"}  # number and number


WINDOW: dict[str, Any] = {"window": "15m"}


def at(minute: int, host: str = "web", **changes: Any) -> dict[str, Any]:
    return ticket(f"T{minute}", host=host, seen=f"2024-05-01T10:{minute:02}:00Z", **changes)


def row(name: str, clock: str, host: str = "web") -> dict[str, Any]:
    return {"id": name, "key": host, "time": f"2024-05-01T{clock}Z"}


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


def test_several_matches_are_what_the_owner_says(desk: Path) -> None:
    rows = [row("far", "09:50:00"), row("near", "10:04:00")]
    for several, expected in (("abstain", set()), ("nearest", {"near"}), ("all", {"far", "near"})):
        oracle = TicketOracle([at(0)], desk, rows, several=several, **WINDOW)
        assert set(verdicts(oracle)) == expected, several
    even = [row("before", "09:50:00"), row("after", "10:10:00")]
    oracle = TicketOracle([at(0)], desk, even, several="nearest", **WINDOW)
    assert verdicts(oracle) == {}
    assert oracle.report().several.count == 1
    with pytest.raises(InvalidInput, match="'some' does not say what several matches mean"):
        TicketOracle([at(0)], desk, rows, several="some", **WINDOW)


def test_zones_are_said_or_it_is_an_error_that_names_the_row(desk: Path) -> None:
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


def test_a_zone_of_the_mapping_is_not_overruled(desk: Path) -> None:
    text = desk.read_text() + '\n[time]\nzone = "UTC"\n'
    utc = mapping_file(desk.parent, text, "utc.toml")
    naive = [at(0) | {"seen": "2024-05-01T10:00:00"}]
    local = [{"id": "r", "key": "web", "time": "2024-05-01T12:00:00"}]
    oracle = TicketOracle(naive, utc, local, time_zone="Europe/Berlin", **WINDOW)
    assert set(verdicts(oracle)) == {"r"}


def test_a_time_that_was_there_twice_abstains_and_is_reported(desk: Path) -> None:
    twice = at(0) | {"seen": "2024-10-27T02:30:00"}
    rows = [{"id": "r", "key": "web", "time": "2024-10-27T02:30:00+02:00"}]
    oracle = TicketOracle([twice], desk, rows, time_zone="Europe/Berlin", **WINDOW)
    assert verdicts(oracle) == {}
    (doubt,) = oracle.report().doubts.first
    assert doubt.ticket == "T0"
    assert "2024-10-27 02:30:00 was there twice in Europe/Berlin" in doubt.why
    changed = ticket("U", row="r", changed="2024-10-27T02:30:00")
    oracle = TicketOracle([changed], desk, [{"id": "r"}], time_zone="Europe/Berlin")
    assert set(verdicts(oracle)) == {"r"}  # the only record needs no order
    oracle = TicketOracle([changed, changed], desk, [{"id": "r"}], time_zone="Europe/Berlin")
    assert verdicts(oracle) == {}
    with pytest.raises(InvalidInput, match=r"observation 0, field 'time': .* was there twice"):
        TicketOracle(
            [at(0)],
            desk,
            [{"id": "r", "key": "web", "time": "2024-10-27T02:30:00"}],
            time_zone="Europe/Berlin",
            **WINDOW,
        )


def test_the_join_must_be_said(desk: Path) -> None:
    with pytest.raises(InvalidInput, match="needs the observations") as caught:
        TicketOracle([at(0)], desk, **WINDOW)
    assert caught.value.reason == "JOIN_UNDEFINED"
    with pytest.raises(InvalidInput, match="Mapping jira does not say where a ticket has its obs"):
        TicketOracle([], "jira")
    with pytest.raises(InvalidInput, match="does not say which field of a ticket is the key"):
        TicketOracle([], "jira", [{"id": 1}], **WINDOW)
    with pytest.raises(InvalidInput, match="does not say which field has the time"):
        TicketOracle([], "datadog", [{"id": 1}], join_key="k", **WINDOW)
    with pytest.raises(InvalidInput, match="is negative"):
        TicketOracle([], desk, [row("r", "10:00:00")], window=np.timedelta64(-1, "s").item())
    with pytest.raises(InvalidInput, match="not with a TicketMapping"):
        TicketOracle([], load_mapping(desk), values={"x": "inlier"})


def test_fields_that_are_missing_are_told(desk: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(csv_text(["key", "state", "row", "Verdict"], [["1", "closed", "r", "x"]]))
    with pytest.raises(InvalidInput) as caught:
        TicketOracle(table, desk)
    assert caught.value.message == (
        f"{table} line 2: no column 'verdict' (fields.verdict of mapping desk); "
        "there are: key, state, row, Verdict"
    )
    with pytest.raises(InvalidInput, match="ticket 1: field 'key', the ticket's key, is empty"):
        TicketOracle([ticket("a"), ticket("")], desk)
    with pytest.raises(InvalidInput, match="ticket 0: field 'verdict' is an object, not a value"):
        TicketOracle([ticket("a") | {"verdict": {"name": "x"}}], desk)
    records = [{"key": 1, "state": "closed", "row": "r"}]
    report = TicketOracle(records, desk).report()
    assert report.absent_fields == ("verdict",)
    assert any("No record has field 'verdict'" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a"}, {"id": "a"}], "observation 1: id 'a' is that of observation 0 too"),
        ([{"id": 7}, {"id": "7"}], "observation 1: id '7' is that of observation 0 too"),
        ([{"id": ""}], "observation 0: field 'id', the id, is empty"),
        ([{"id": 7.0}], "observation 0: field 'id' is 7.0; ids are text or whole numbers"),
        ([{"key": "a"}], "observation 0: no column id, observation_id or observation; "),
        ([], "observations: there are none"),
    ],
)
def test_observations_are_checked(desk: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        TicketOracle([], desk, rows)
    assert caught.value.reason == "OBSERVATIONS_INVALID"
    assert caught.value.message.startswith(message)


def test_observations_have_the_columns_that_are_named(desk: Path) -> None:
    rows = [{"name": "r", "host": "web", "ts": 1714557600}]
    oracle = TicketOracle(
        [at(0)],
        desk,
        rows,
        id_column="name",
        key_column="host",
        time_column="ts",
        observation_time="epoch_s",
        **WINDOW,
    )
    assert set(verdicts(oracle)) == {"r"}
    with pytest.raises(InvalidInput, match=r"no field 'key'; there are: name, host, ts. Name it"):
        TicketOracle([at(0)], desk, rows, id_column="name", **WINDOW)


@given(data=st.data())
def test_no_verdict_is_ever_one_that_no_ticket_has(data: st.DataObject) -> None:
    """A verdict is one that a closed ticket on the row has and no other objects to."""
    words = st.sampled_from(["confirmed", "false alarm", "benign", "Confirmed", "", "x"])
    records = data.draw(
        st.lists(
            st.builds(
                ticket,
                st.sampled_from(["T1", "T2", "T3", "T4"]),
                words,
                state=st.sampled_from(["closed", "open", "Closed"]),
                row=st.sampled_from(["r", "R", "s", "7", 7, ["r", "s"]]),
            ),
            max_size=8,
        )
    )
    mapping = load_mapping(DESK)
    oracle = TicketOracle(records, mapping, [{"id": name} for name in ("r", "s", "7")])
    last = {record["key"]: record for record in records}
    for name, verdict in verdicts(oracle).items():
        word = "confirmed" if verdict is Verdict.OUTLIER else "false alarm"
        other = "false alarm" if verdict is Verdict.OUTLIER else "confirmed"
        on_row = [r for r in last.values() if r["row"] == name and r["state"] == "closed"]
        assert any(record["verdict"] == word for record in on_row)
        assert not any(record["verdict"] == other for record in on_row)


def test_100000_tickets_of_which_60_match_take_seconds_and_are_exact(tmp_path: Path) -> None:
    names = [f"row-{n}" for n in range(2000)]
    wanted = {f"row-{n * 33}": n for n in range(60)}
    matching = iter(wanted)
    records = []
    for n in range(100_000):
        hit = n % 1600 == 800 and next(matching, None)
        records.append(
            _incident(n, hit or f"elsewhere-{n}", "TruePositive" if n % 3 else "FalsePositive")
        )
    assert next(matching, None) is None
    path = json_lines(tmp_path / "incidents.jsonl", records)
    rows = tmp_path / "rows.csv"
    rows.write_text("id\n" + "\n".join(names) + "\n")
    began = time.perf_counter()
    oracle = TicketOracle(path, "microsoft-sentinel", rows, observation_id="IncidentName")
    report = oracle.report()
    took = time.perf_counter() - began
    expected = {
        record["IncidentName"]: Verdict.OUTLIER
        if record["Classification"] == "TruePositive"
        else Verdict.INLIER
        for record in records
        if record["IncidentName"] in wanted
    }
    assert len(expected) == 60
    assert verdicts(oracle) == expected
    assert (report.tickets, report.matched, report.unmatched.count) == (100_000, 60, 99_940)
    assert (report.covered, report.labelled, report.near_misses.count) == (60, 60, 0)
    assert took < 15.0, took


def _incident(number: int, name: str, kind: str) -> dict[str, Any]:
    return {
        "IncidentNumber": number,
        "IncidentName": name,
        "Status": "Closed",
        "Classification": kind,
        "ClassificationReason": "SuspiciousActivity",
        "LastModifiedTime": f"2024-05-01T12:{number // 60 % 60:02}:{number % 60:02}.1234567Z",
        "Title": "Suspicious sign-in from an unfamiliar place",
    }
