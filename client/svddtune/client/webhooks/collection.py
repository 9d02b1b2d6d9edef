"""The folder of a receiver: the notifications that came, and their alerts as observations."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svddtune.client.alertmanager import (
    Alert,
    AlertFeatures,
    AlertObservations,
    read_alerts,
    read_payloads,
)
from svddtune.client.alertmanager.observations import from_alerts
from svddtune.client.errors import InvalidInput


class Collection:
    """Alerts that are kept in ``payloads.jsonl``, each once, in its last state.

    Parameters
    ----------
    folder : Path
        Made if it is missing. One receiver at a time may use it.
    features : AlertFeatures
        An alert that has them not is refused.
    """

    def __init__(self, folder: Path, features: AlertFeatures) -> None:
        self._path = folder / "payloads.jsonl"
        self._features = features
        folder.mkdir(parents=True, exist_ok=True)
        self._alerts: dict[str, Alert] = {}
        if self._path.exists():
            self._drop_partial_line()
            self._alerts = {alert.id: alert for alert in read_alerts(read_payloads(self._path))}

    def __len__(self) -> int:
        return len(self._alerts)

    def add(self, payload: Any) -> int:
        """Store a notification of Alertmanager, on disk when this returns.

        Returns
        -------
        int
            The number of its alerts that are new.

        Raises
        ------
        InvalidInput
            PAYLOAD_INVALID with place and key; nothing is stored.
        """
        alerts = read_alerts([("payload", payload)])
        if alerts:
            from_alerts(alerts, self._features)  # they have all features
        if all(_content(self._alerts.get(alert.id)) == _content(alert) for alert in alerts):
            return 0
        before = self._path.stat().st_size if self._path.exists() else 0
        with self._path.open("ab") as file:
            try:
                file.write(json.dumps(payload).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)
                raise
        new = sum(alert.id not in self._alerts for alert in alerts)
        self._alerts |= {alert.id: alert for alert in alerts}
        return new

    def observations(self) -> AlertObservations:
        """Return the observations so far; DATASET_EMPTY where there are none."""
        return from_alerts(list(self._alerts.values()), self._features)

    def _drop_partial_line(self) -> None:
        """Remove what a receiver was writing when it was killed; nobody was told it is stored."""
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self._path, whole)


def from_grafana(payload: Any) -> Any:
    """Return a notification of Grafana's alerting as one of Alertmanager.

    The format is that of Alertmanager under version "1". The `values` of an alert become
    annotations ``values.NAME``.
    """
    if not isinstance(payload, Mapping):
        return payload  # refused by whoever reads it
    if payload.get("version") != "1":
        raise InvalidInput(
            f"payload: version is {payload.get('version')!r:.60}; only version '1' of Grafana's "
            "notifications can be read",
            reason="PAYLOAD_INVALID",
            metadata={"place": "payload: version"},
        )
    alerts = payload.get("alerts")
    if not isinstance(alerts, list):
        return {**payload, "version": "4"}
    return {**payload, "version": "4", "alerts": [_alert(alert) for alert in alerts]}


def _alert(alert: Any) -> Any:
    values = alert.get("values") if isinstance(alert, Mapping) else None
    if not isinstance(values, Mapping) or not isinstance(alert.get("annotations"), Mapping):
        return alert
    texts = {f"values.{name}": json.dumps(value) for name, value in values.items()}
    return {**alert, "annotations": {**alert["annotations"], **texts}}


@dataclass(frozen=True, slots=True)
class RecordPaths:
    """Where generic records have their id and their time: keys, joined by points.

    The time is text as in RFC 3339, with a zone.
    """

    id: str
    time: str


def from_records(content: Any, paths: RecordPaths) -> Any:
    """Return a JSON object, or a list of them, as a notification of Alertmanager.

    Each record becomes an alert that fires since its time. What it holds becomes labels, by keys
    that points join; lists become JSON text, and null is left out.

    Raises
    ------
    InvalidInput
        PAYLOAD_INVALID with the place of a record that is no object, or lacks its id or time.
    """
    records = content if isinstance(content, list) else [content]
    alerts = [_of_record(record, paths, f"records[{i}]") for i, record in enumerate(records)]
    return {"version": "4", "groupKey": "records", "status": "firing", "alerts": alerts}


def _of_record(record: Any, paths: RecordPaths, place: str) -> dict[str, Any]:
    if not isinstance(record, Mapping):
        raise _not_a_record(place, f"is {record!r:.60}, not an object")
    texts = dict(_flat(record, ""))
    for path in (paths.id, paths.time):
        if not texts.get(path):
            raise _not_a_record(place, f"has no {path}")
    return {
        "fingerprint": texts[paths.id],
        "status": "firing",
        "startsAt": texts[paths.time],
        "endsAt": "0001-01-01T00:00:00Z",
        "labels": texts,
        "annotations": {},
    }


def _flat(record: Mapping[Any, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in record.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}.")
        elif value is not None:
            yield path, value if isinstance(value, str) else json.dumps(value)


def _not_a_record(place: str, text: str) -> InvalidInput:
    return InvalidInput(f"{place} {text}", reason="PAYLOAD_INVALID", metadata={"place": place})


def _content(alert: Alert | None) -> tuple[object, ...]:
    if alert is None:
        return ()
    return (alert.status, alert.ends, dict(alert.labels), dict(alert.annotations))
