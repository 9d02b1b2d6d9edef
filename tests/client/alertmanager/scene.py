"""Notifications as Alertmanager's documentation has them, and features of each kind."""

from __future__ import annotations

from typing import Any

ZERO = "0001-01-01T00:00:00Z"
NUMBER = {"schema": 1, "feature": [{"kind": "number", "from": "annotations.value"}]}
TOML = """
schema = 1
time_zone = "Europe/Berlin"
key = "labels.instance"
display = ["labels.alertname", "annotations.summary", "status"]

[[feature]]
kind = "number"
from = "annotations.value"

[[feature]]
kind = "one_hot"
from = "labels.severity"
values = ["critical", "warning"]

[[feature]]
kind = "duration"
firing = -1

[[feature]]
kind = "hour"

[[feature]]
kind = "hour"
name = "clock"
cyclic = true

[[feature]]
kind = "weekday"

[[feature]]
kind = "group_count"
"""


def alert(
    fingerprint: str = "1a30ba71cca2921f",
    *,
    starts: str = "2018-08-03T09:52:26.739266876+02:00",
    ends: str = ZERO,
    **changes: Any,
) -> dict[str, Any]:
    return {
        "status": "firing" if ends == ZERO else "resolved",
        "labels": {"alertname": "ProbeFailure", "instance": "db-7", "severity": "critical"},
        "annotations": {"summary": "db-7 is down", "value": "0.25"},
        "startsAt": starts,
        "endsAt": ends,
        "generatorURL": "http://prometheus.example.org:9090/graph",
        "fingerprint": fingerprint,
    } | changes


def payload(*alerts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "receiver": "svddtune",
        "status": "firing",
        "alerts": list(alerts),
        "groupLabels": {"alertname": "ProbeFailure"},
        "commonLabels": {"alertname": "ProbeFailure"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example.org:9093",
        "version": "4",
        "groupKey": '{}:{alertname="ProbeFailure"}',
        "truncatedAlerts": 0,
    } | changes
