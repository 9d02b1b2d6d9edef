import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.tickets.exports import (
    DESK,
    WINDOW,
    at,
    csv_text,
    json_lines,
    row,
    ticket,
    verdicts,
)

from svddtune.client import InvalidInput, Judgement, Query, SkipMode, TicketOracle, Tiers, Verdict
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


def test_ticket_oracle_answers_known_observations_and_passes_on_the_rest(desk: Path) -> None:
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
    probable = TicketOracle(records, desk, values={"benign": "inlier:0.8"})
    assert probable(query("c")) == Judgement(Verdict.INLIER, 0.8)
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
    rows = {(v.value, v.verdict_status.value, v.tickets, v.matched) for v in report.values}
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


def test_unmapped_value_is_an_error_in_strict_mode(desk: Path) -> None:
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


def test_incomplete_join_is_refused(desk: Path) -> None:
    with pytest.raises(InvalidInput, match="needs all observations") as caught:
        TicketOracle([at(0)], desk, **WINDOW)
    assert caught.value.reason == "JOIN_UNDEFINED"
    with pytest.raises(
        InvalidInput, match="Mapping jira does not say which field of a ticket holds the obs"
    ):
        TicketOracle([], "jira")
    with pytest.raises(InvalidInput, match="does not say which field of a ticket holds the key"):
        TicketOracle([], "jira", [{"id": 1}], **WINDOW)
    with pytest.raises(InvalidInput, match="does not say which field of a ticket holds the time"):
        TicketOracle([], "datadog", [{"id": 1}], join_key="k", **WINDOW)
    with pytest.raises(InvalidInput, match="is negative"):
        TicketOracle([], desk, [row("r", "10:00:00")], window=np.timedelta64(-1, "s").item())
    with pytest.raises(InvalidInput, match="the mapping given is a TicketMapping"):
        TicketOracle([], load_mapping(desk), values={"x": "inlier"})


def test_missing_fields_are_reported(desk: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(csv_text(["key", "state", "row", "Verdict"], [["1", "closed", "r", "x"]]))
    with pytest.raises(InvalidInput) as caught:
        TicketOracle(table, desk)
    assert caught.value.message == (
        f"{table} line 2: no column 'verdict' (fields.verdict of mapping desk) among "
        "key, state, row, Verdict"
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
        ([{"id": "a"}, {"id": "a"}], "observation 1: id 'a' is also the id of observation 0"),
        ([{"id": 7}, {"id": "7"}], "observation 1: id '7' is also the id of observation 0"),
        ([{"id": ""}], "observation 0: field 'id', the id, is empty"),
        ([{"id": 7.0}], "observation 0: field 'id' is 7.0; ids must be text or whole numbers"),
        ([{"key": "a"}], "observation 0: no column id, observation_id or observation among "),
        ([], "observations: there are no observations"),
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
    with pytest.raises(InvalidInput, match=r"no field 'key' among name, host, ts. Name the field"):
        TicketOracle([at(0)], desk, rows, id_column="name", **WINDOW)


@given(data=st.data())
def test_every_verdict_is_that_of_a_ticket(data: st.DataObject) -> None:
    """A verdict is one that a closed ticket on the row has and no other objects to.

    The tickets have no update time, so one whose records differ says nothing.
    """
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
    doubtful = {record["key"] for record in records if record != last[record["key"]]}
    for name, verdict in verdicts(oracle).items():
        word = "confirmed" if verdict is Verdict.OUTLIER else "false alarm"
        other = "false alarm" if verdict is Verdict.OUTLIER else "confirmed"
        on_row = [r for r in last.values() if r["row"] == name and r["state"] == "closed"]
        assert any(record["verdict"] == word for record in on_row)
        clear = [record for record in on_row if record["key"] not in doubtful]
        assert not any(record["verdict"] == other for record in clear)


@pytest.mark.slow
def test_the_few_of_many_tickets_that_match_are_exact(tmp_path: Path) -> None:
    names = [f"row-{n}" for n in range(2000)]
    wanted = {f"row-{n * 33}": n for n in range(60)}
    matching, count = iter(wanted), 400 * 61
    records = []
    for n in range(count):
        hit = n % 400 == 200 and next(matching, None)
        records.append(
            _incident(n, hit or f"elsewhere-{n}", "TruePositive" if n % 3 else "FalsePositive")
        )
    assert next(matching, None) is None
    path = json_lines(tmp_path / "incidents.jsonl", records)
    rows = tmp_path / "rows.csv"
    rows.write_text("id\n" + "\n".join(names) + "\n")
    oracle = TicketOracle(path, "microsoft-sentinel", rows, observation_id="IncidentName")
    report = oracle.report()
    expected = {
        record["IncidentName"]: Verdict.OUTLIER
        if record["Classification"] == "TruePositive"
        else Verdict.INLIER
        for record in records
        if record["IncidentName"] in wanted
    }
    assert len(expected) == 60
    assert verdicts(oracle) == expected
    assert (report.tickets, report.matched, report.unmatched.count) == (count, 60, count - 60)
    assert (report.covered, report.labelled, report.near_misses.count) == (60, 60, 0)


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
