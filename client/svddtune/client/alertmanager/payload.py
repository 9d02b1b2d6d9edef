"""Reads alerts from payloads of Alertmanager's webhook, version 4.

As https://prometheus.io/docs/alerting/latest/configuration/#webhook_config has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from svddtune.client.errors import InvalidInput
from svddtune.client.files.source import Source

VERSION = "4"
_SPACE = re.compile(r"[ \t\r\n]*")
_STATUSES = ("firing", "resolved")
_KINDS = {dict: "an object", list: "a list", str: "text", int: "a number"}


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert, in the state of its last notification.

    `ends` is None while it fires. `group_count` counts the alerts of that notification, those that
    were cut from it included. `place` is where it stands, e.g. "payloads[0].alerts[2]".
    """

    fingerprint: str
    status: str
    starts: datetime
    ends: datetime | None
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    group_count: int
    place: str

    @property
    def id(self) -> str:
        """Fingerprint and start: the same for all notifications of the alert, and for no other."""
        return f"{self.fingerprint}@{instant(self.starts)}"


def instant(moment: datetime) -> str:
    """Return a time in UTC as text, e.g. 2018-08-03T07:52:26.739266Z."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def read_payloads(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the payloads of a file with their places: one, a list of them, or one a line.

    Raises
    ------
    InvalidInput
        PAYLOAD_INVALID with the line of what is not JSON, or not UTF-8.
    """
    source = Source.of(path, "PAYLOAD_INVALID")
    text, path = source.text(), Path(source.name)
    decoder, line, counted = json.JSONDecoder(), 1, 0
    start = _skip_space(text, 0)
    several = False
    while start < len(text):
        line, counted = line + text.count("\n", counted, start), start
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            _fail(f"{path} line {line}", "is nested too deeply")
        except json.JSONDecodeError as error:
            _fail(f"{path} line {error.lineno}", f"is not JSON: {error.msg}")
        start = _skip_space(text, end)
        several = several or start < len(text)
        if isinstance(value, list):
            yield from ((f"{path}[{i}]", payload) for i, payload in enumerate(value))
        else:
            yield f"{path} line {line}" if several else str(path), value


def read_alerts(payloads: Iterable[tuple[str, Any]]) -> list[Alert]:
    """Return the alerts of payloads with their places; each alert once, in its last state.

    The order is that in which alerts first came.

    Raises
    ------
    InvalidInput
        PAYLOAD_INVALID with place and key of the first fault.
    """
    alerts: dict[tuple[str, datetime], Alert] = {}
    for place, payload in payloads:
        for alert in _alerts(payload, place):
            alerts[(alert.fingerprint, alert.starts)] = alert
    return list(alerts.values())


def _skip_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _alerts(payload: Any, place: str) -> Iterator[Alert]:
    if not isinstance(payload, Mapping):
        _fail(place, f"is {payload!r:.60}, not a payload: an object with version and alerts")
    version = _field(payload, "version", str, place)
    if version != VERSION:
        _fail(f"{place}: version", f"is {version!r}; only version {VERSION!r} can be read", version)
    _field(payload, "groupKey", str, place)
    _status(payload, place)
    listed = _field(payload, "alerts", list, place)
    cut = _field(payload, "truncatedAlerts", int, place) if "truncatedAlerts" in payload else 0
    for i, alert in enumerate(listed):
        yield _alert(alert, len(listed) + cut, f"{place}: alerts[{i}]")


def _alert(alert: Any, group_count: int, place: str) -> Alert:
    if not isinstance(alert, Mapping):
        _fail(place, f"is {alert!r:.60}, not an object")
    status = _status(alert, place, ".")
    starts = _time(alert, "startsAt", place)
    ends = _time(alert, "endsAt", place) if status == "resolved" else None
    if starts is None:
        _fail(f"{place}.startsAt", "is the zero time; every alert has started")
    if status == "resolved" and ends is None:
        _fail(f"{place}.endsAt", "is the zero time, but the alert is resolved")
    if ends is not None and ends < starts:
        _fail(f"{place}.endsAt", f"is {alert['endsAt']!r}, before startsAt {alert['startsAt']!r}")
    fingerprint = _field(alert, "fingerprint", str, place, ".")
    if not fingerprint:
        _fail(f"{place}.fingerprint", "is empty")
    return Alert(
        fingerprint=fingerprint,
        status=status,
        starts=starts,
        ends=ends,
        labels=_texts(alert, "labels", place),
        annotations=_texts(alert, "annotations", place),
        group_count=group_count,
        place=place,
    )


def _status(holder: Mapping[str, Any], place: str, point: str = ": ") -> str:
    status: str = _field(holder, "status", str, place, point)
    if status not in _STATUSES:
        _fail(f"{place}{point}status", f"is {status!r}, not firing or resolved", status)
    return status


def _texts(alert: Mapping[str, Any], key: str, place: str) -> Mapping[str, str]:
    values = _field(alert, key, dict, place, ".")
    for name, value in values.items():
        if not isinstance(value, str):
            _fail(f"{place}.{key}.{name}", f"is {value!r:.60}, not text", value)
    return values  # type: ignore[no-any-return]


def _time(alert: Mapping[str, Any], key: str, place: str) -> datetime | None:
    """Return an RFC 3339 time, None for Go's zero time: there is none."""
    text = _field(alert, key, str, place, ".")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        _fail(f"{place}.{key}", f"is {text!r}, not a time with an offset from UTC (RFC 3339)", text)
    return None if moment.year == 1 else moment.astimezone(UTC)


def _field(holder: Mapping[str, Any], key: str, kind: type, place: str, point: str = ": ") -> Any:
    if key not in holder:
        _fail(f"{place}{point}{key}", "is missing")
    value = holder[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        _fail(f"{place}{point}{key}", f"is {value!r:.60}, not {_KINDS[kind]}", value)
    return value


def _fail(place: str, text: str, value: object = "") -> NoReturn:
    raise InvalidInput(
        f"{place} {text}",
        reason="PAYLOAD_INVALID",
        metadata={"place": place, "value": str(value)[:200]},
    )
