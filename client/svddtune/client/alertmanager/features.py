"""The features of alerts, defined in TOML, version 1.

::

    schema = 1
    time_zone = "Europe/Berlin"            # of hour and weekday; default UTC
    key = "labels.instance"                # joins alerts with tickets later
    display = ["labels.alertname", "annotations.summary"]

    [[feature]]
    kind = "number"                        # an annotation or label that is a number
    from = "annotations.value"
    default = 0.0                          # for alerts without it; else they are an error

    [[feature]]
    kind = "one_hot"                       # 1 in the column of its value, else 0
    from = "labels.severity"
    values = ["critical", "warning"]

    [[feature]]
    kind = "duration"                      # seconds from startsAt to endsAt
    firing = 0                             # for alerts that fire still; else they are an error

    [[feature]]
    kind = "hour"                          # of startsAt, 0 to 24; with cyclic its sine and cosine
    cyclic = true

    [[feature]]
    kind = "weekday"                       # of startsAt, Monday is 0

    [[feature]]
    kind = "group_count"                   # alerts in the notification

Each feature takes a `name`; default its `from`, without what is before the first point, or its
kind.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from svddtune.client.alertmanager.fields import Field
from svddtune.client.alertmanager.payload import Alert
from svddtune.client.errors import InvalidInput
from svddtune.client.files.times import zone_of

SCHEMA = 1
_TOP = ("schema", "time_zone", "key", "display", "feature")
_DISPLAY = ("labels.alertname", "annotations.summary")


@dataclass(frozen=True, slots=True)
class Feature:
    """The names of columns, and the function that returns an alert's values in them."""

    names: tuple[str, ...]
    values: Callable[[Alert], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class AlertFeatures:
    """How alerts become observations: features, a key to join by, and display fields."""

    features: tuple[Feature, ...]
    key: Field | None
    display: tuple[Field, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(name for feature in self.features for name in feature.names)

    def row(self, alert: Alert) -> list[float]:
        """Return the alert's values, one a column."""
        return [value for feature in self.features for value in feature.values(alert)]


def load_features(source: str | Path | Mapping[str, Any]) -> AlertFeatures:
    """Return the features of a TOML file, or of such a file's content.

    Raises
    ------
    InvalidInput
        FEATURES_INVALID with file and key of the first fault.
    """
    if isinstance(source, Mapping):
        return _Reader("features").read(source)
    try:
        document = tomllib.loads(Path(source).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{source} is not TOML: {error}", reason="FEATURES_INVALID") from None
    return _Reader(str(source)).read(document)


class _Reader:
    """Reads one document, with its name for errors."""

    def __init__(self, file: str) -> None:
        self._file = file

    def read(self, document: Mapping[str, Any]) -> AlertFeatures:
        self._only(document, _TOP, "")
        if document.get("schema") != SCHEMA or isinstance(document.get("schema"), bool):
            was = f"is {document['schema']!r}" if "schema" in document else "is missing"
            self._fail("schema", f"{was}; this version reads schema = {SCHEMA}")
        zone = self._zone(document.get("time_zone", "UTC"))
        key = self._field(document["key"], "key") if "key" in document else None
        display = document.get("display", _DISPLAY)
        if not isinstance(display, list | tuple):
            self._fail("display", f"is {display!r}, not a list")
        shown = tuple(self._field(one, f"display[{i}]") for i, one in enumerate(display))
        listed = document.get("feature")
        if not isinstance(listed, list) or not listed:
            self._fail("feature", "is missing; begin each feature with [[feature]]")
        features = tuple(self._feature(one, f"feature[{i}]", zone) for i, one in enumerate(listed))
        self._unique([name for feature in features for name in feature.names], "feature")
        self._unique([field.name for field in shown], "display")
        return AlertFeatures(features, key, shown)

    def _feature(self, given: Any, where: str, zone: ZoneInfo) -> Feature:
        if not isinstance(given, Mapping):
            self._fail(where, f"is {given!r}, not a table; begin it with [[feature]]")
        kind = given.get("kind")
        if not isinstance(kind, str) or kind not in _KEYS:
            was = f"is {kind!r}" if "kind" in given else "is missing"
            self._fail(f"{where}.kind", f"{was}; use one of {', '.join(_KEYS)}")
        self._only(given, ("kind", "name", *_KEYS[kind]), f"{where}.")
        field = self._field(given.get("from"), f"{where}.from") if "from" in _KEYS[kind] else None
        name = given.get("name", field.name if field else kind)
        if not isinstance(name, str) or not name.strip() or _is_number(name):
            self._fail(
                f"{where}.name", f"is {name!r}, not a column name; give a text that is not a number"
            )
        if field is not None and kind == "number":
            default = self._number(given, "default", where)
            return Feature((name,), lambda alert: (field.number(alert, default),))
        if field is not None:
            values = self._values(given.get("values"), f"{where}.values")
            names = tuple(f"{name}={value}" for value in values)
            return Feature(names, lambda alert: field.one_hot(alert, values))
        if kind == "duration":
            firing = self._number(given, "firing", where)
            return Feature((name,), lambda alert: (_duration(alert, firing),))
        if kind == "group_count":
            return Feature((name,), lambda alert: (float(alert.group_count),))
        moment = _hour if kind == "hour" else _weekday
        period = 24.0 if kind == "hour" else 7.0
        if not self._truth(given, "cyclic", where):
            return Feature((name,), lambda alert: (moment(alert, zone),))
        return Feature(
            (f"{name} sin", f"{name} cos"),
            lambda alert: _on_circle(moment(alert, zone) / period),
        )

    def _field(self, given: Any, where: str) -> Field:
        try:
            return Field.of(given)
        except InvalidInput as error:
            self._fail(where, error.message)

    def _zone(self, given: Any) -> ZoneInfo:
        try:
            return zone_of(given if isinstance(given, str) else repr(given))
        except InvalidInput as error:
            self._fail("time_zone", error.message)

    def _number(self, given: Mapping[str, Any], key: str, where: str) -> float | None:
        value = given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            self._fail(f"{where}.{key}", f"is {value!r}, not a finite number")
        return float(value)

    def _truth(self, given: Mapping[str, Any], key: str, where: str) -> bool:
        value = given.get(key, False)
        if not isinstance(value, bool):
            self._fail(f"{where}.{key}", f"is {value!r}, not true or false")
        return value

    def _values(self, given: Any, where: str) -> tuple[str, ...]:
        if not isinstance(given, list) or not given or not all(isinstance(v, str) for v in given):
            self._fail(where, f"is {given!r}, not a list of texts, one for each column")
        self._unique(given, where)
        return tuple(given)

    def _unique(self, names: list[str], where: str) -> None:
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            self._fail(where, f"has {twice!r} twice; give one of them another name")

    def _only(self, given: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
        for key in given:
            if key not in allowed:
                self._fail(f"{where}{key}", f"is not a known key; use one of {', '.join(allowed)}")

    def _fail(self, where: str, text: str) -> NoReturn:
        raise InvalidInput(
            f"{self._file}: {where} {text}",
            reason="FEATURES_INVALID",
            metadata={"file": self._file, "key": where},
        )


_KEYS: dict[str, tuple[str, ...]] = {
    "number": ("from", "default"),
    "one_hot": ("from", "values"),
    "duration": ("firing",),
    "hour": ("cyclic",),
    "weekday": ("cyclic",),
    "group_count": (),
}


def _duration(alert: Alert, firing: float | None) -> float:
    if alert.ends is not None:
        return (alert.ends - alert.starts).total_seconds()
    if firing is None:
        raise InvalidInput(
            f"{alert.place}.endsAt is not set, because the alert is still firing: set firing = "
            f"SECONDS, the duration to use for such alerts",
            reason="PAYLOAD_INVALID",
            metadata={"place": f"{alert.place}.endsAt"},
        )
    return firing


def _hour(alert: Alert, zone: ZoneInfo) -> float:
    local = alert.starts.astimezone(zone)
    return local.hour + local.minute / 60 + (local.second + local.microsecond / 1e6) / 3600


def _weekday(alert: Alert, zone: ZoneInfo) -> float:
    return float(alert.starts.astimezone(zone).weekday())


def _on_circle(share: float) -> tuple[float, float]:
    return math.sin(2 * math.pi * share), math.cos(2 * math.pi * share)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _finite(value: float) -> bool:
    return math.isfinite(value)
