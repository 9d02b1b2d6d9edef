"""Webhook payloads -> observations."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.alertmanager.scene import NUMBER, TOML, ZERO, alert, payload

from svddtune.client import InvalidInput, observations_from_alertmanager


def test_each_kind_of_feature(tmp_path: Path) -> None:
    (tmp_path / "features.toml").write_text(TOML)
    resolved = alert(
        "b",
        starts="2018-08-05T22:30:00Z",  # Monday, half past midnight in Berlin
        ends="2018-08-05T22:31:30.5Z",
        labels={"alertname": "Slow", "severity": "page"},
        annotations={"value": "-3e2"},
    )
    found = observations_from_alertmanager(
        [payload(alert("a"), resolved, truncatedAlerts=5)], tmp_path / "features.toml"
    )
    assert found.feature_names == (
        "value",
        "severity=critical",
        "severity=warning",
        "duration",
        "hour",
        "clock sin",
        "clock cos",
        "weekday",
        "group_count",
    )
    local = 9 + 52 / 60 + 26.739266 / 3600
    angle = 2 * math.pi * local / 24
    first = [0.25, 1, 0, -1, local, math.sin(angle), math.cos(angle), 4, 7]
    half = 2 * math.pi * 0.5 / 24
    second = [-300, 0, 0, 90.5, 0.5, math.sin(half), math.cos(half), 0, 7]
    np.testing.assert_allclose(found.X, [first, second], rtol=1e-12)
    assert found.ids == ("a@2018-08-03T07:52:26.739266Z", "b@2018-08-05T22:30:00Z")
    assert found.keys == ("db-7", "")
    assert found.times[1] == datetime(2018, 8, 5, 22, 30, tzinfo=UTC)
    assert found.display == (
        {"alertname": "ProbeFailure", "summary": "db-7 is down", "status": "firing"},
        {"alertname": "Slow", "status": "resolved"},
    )


def test_an_alert_is_one_observation_in_its_last_state() -> None:
    features = {"schema": 1, "feature": [{"kind": "duration", "firing": 0}]}
    again = alert("a", starts="2018-08-03T07:52:26.739266876Z", ends="2018-08-03T08:00:00Z")
    later = alert("a", starts="2018-08-04T00:00:00Z")
    found = observations_from_alertmanager(
        [payload(alert("a"), alert("b")), payload(again), payload(later)], features
    )
    assert found.ids == (
        "a@2018-08-03T07:52:26.739266Z",
        "b@2018-08-03T07:52:26.739266Z",
        "a@2018-08-04T00:00:00Z",
    )
    np.testing.assert_allclose(found.X[:, 0], [453.260734, 0, 0])


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.floats(-1e9, 1e9)), min_size=1
    ),
    st.data(),
)
def test_last_state_wins_however_notifications_are_grouped(
    told: list[tuple[str, int, float]], data: st.DataObject
) -> None:
    start = datetime(2026, 1, 1, tzinfo=ZoneInfo("America/New_York"))
    alerts = [
        alert(
            name,
            starts=(start + timedelta(hours=hour)).isoformat(),
            annotations={"value": repr(value)},
        )
        for name, hour, value in told
    ]
    cut = data.draw(st.integers(0, len(alerts)))
    found = observations_from_alertmanager([payload(*alerts[:cut]), payload(*alerts[cut:])], NUMBER)
    last = {(name, hour): value for name, hour, value in told}
    assert len(found.ids) == len(set(found.ids)) == len(last)
    assert found.X[:, 0].tolist() == list(last.values())


def test_default_stands_for_what_is_missing() -> None:
    features = {
        "schema": 1,
        "feature": [{"kind": "number", "from": "labels.load", "name": "load", "default": 2}],
    }
    found = observations_from_alertmanager([payload(alert())], features)
    assert found.X.tolist() == [[2.0]]
    assert found.display == ({"alertname": "ProbeFailure", "summary": "db-7 is down"},)


@pytest.mark.parametrize(
    ("notified", "message"),
    [
        ([], "payloads[0] is [], not a payload: an object with version and alerts"),
        (payload(version="1"), "payloads[0]: version is '1'; only version '4' can be read"),
        (payload(version=4), "payloads[0]: version is 4, not text"),
        ({"alerts": []}, "payloads[0]: version is missing"),
        (payload(status="open"), "payloads[0]: status is 'open', not firing or resolved"),
        (payload(alerts={}), "payloads[0]: alerts is {}, not a list"),
        (payload(groupKey=None), "payloads[0]: groupKey is None, not text"),
        (payload(truncatedAlerts="2"), "payloads[0]: truncatedAlerts is '2', not a number"),
        (
            payload(alert()) | {"alerts": [alert(), "x"]},
            "payloads[0]: alerts[1] is 'x', not an object",
        ),
        (payload(alert(), alert(fingerprint="")), "payloads[0]: alerts[1].fingerprint is empty"),
        (
            payload({k: v for k, v in alert().items() if k != "fingerprint"}),
            "payloads[0]: alerts[0].fingerprint is missing",
        ),
        (payload(alert(labels=None)), "payloads[0]: alerts[0].labels is None, not an object"),
        (
            payload(alert(annotations={"value": 7})),
            "payloads[0]: alerts[0].annotations.value is 7, not text",
        ),
        (
            payload(alert(), alert(annotations={"value": "12.3%"})),
            "payloads[0]: alerts[1].annotations.value is '12.3%', not a finite number",
        ),
        (
            payload(alert(annotations={"value": "NaN"})),
            "payloads[0]: alerts[0].annotations.value is 'NaN', not a finite number",
        ),
        (
            payload(alert(annotations={})),
            "payloads[0]: alerts[0].annotations.value is missing; set default = NUMBER, the "
            "value to use for such alerts",
        ),
        (
            payload(alert(starts="yesterday")),
            "payloads[0]: alerts[0].startsAt is 'yesterday', not a time with an offset from UTC "
            "(RFC 3339)",
        ),
        (
            payload(alert(starts="2018-08-03T09:52:26")),
            "payloads[0]: alerts[0].startsAt is '2018-08-03T09:52:26', "
            "not a time with an offset from UTC (RFC 3339)",
        ),
        (
            payload(alert(starts=ZERO)),
            "payloads[0]: alerts[0].startsAt is the zero time; every alert has started",
        ),
        (
            payload(alert(status="resolved")),
            "payloads[0]: alerts[0].endsAt is the zero time, but the alert is resolved",
        ),
        (
            payload(alert(starts="2026-01-01T02:00:00Z", ends="2026-01-01T02:30:00+01:00")),
            "payloads[0]: alerts[0].endsAt is '2026-01-01T02:30:00+01:00', "
            "before startsAt '2026-01-01T02:00:00Z'",
        ),
    ],
)
def test_fault_of_a_payload_is_named_with_its_place(notified: Any, message: str) -> None:
    # One alert twice would be read in its last state only; all faults are of what is read.
    with pytest.raises(InvalidInput) as refused:
        observations_from_alertmanager([notified], NUMBER)
    assert refused.value.message == message
    assert refused.value.reason == "PAYLOAD_INVALID"


def test_firing_alert_needs_a_duration_for_firing() -> None:
    features = {"schema": 1, "feature": [{"kind": "duration"}]}
    with pytest.raises(InvalidInput) as refused:
        observations_from_alertmanager([payload(alert())], features)
    assert refused.value.message == (
        "payloads[0]: alerts[0].endsAt is not set, because the alert is still firing: "
        "set firing = SECONDS, the duration to use for such alerts"
    )


def test_no_alert_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        observations_from_alertmanager([payload()], NUMBER)
    assert refused.value.message == "The payloads contain no alert"
