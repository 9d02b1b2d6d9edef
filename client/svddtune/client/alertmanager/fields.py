"""Fields of alerts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from svddtune.client.alertmanager.payload import Alert, instant
from svddtune.client.errors import InvalidInput
from svddtune.client.files.numbers import parse_number

_OWN = ("status", "startsAt", "endsAt", "fingerprint")


@dataclass(frozen=True, slots=True)
class Field:
    """A label, an annotation, or one of the alert's own fields; `name` is what it is called."""

    holder: str
    name: str

    @classmethod
    def of(cls, given: Any) -> Field:
        """Return the field that "labels.severity", "annotations.value" or "status" names."""
        if isinstance(given, str):
            holder, point, name = given.partition(".")
            if holder in ("labels", "annotations") and point and name:
                return cls(holder, name)
            if given in _OWN:
                return cls("", given)
        raise InvalidInput(
            f"is {given!r}, not labels.NAME, annotations.NAME or one of {', '.join(_OWN)}"
        )

    def text(self, alert: Alert) -> str | None:
        """Return the field's text, None where the alert lacks it."""
        if self.holder == "labels":
            return alert.labels.get(self.name)
        if self.holder == "annotations":
            return alert.annotations.get(self.name)
        if self.name == "status":
            return alert.status
        if self.name == "fingerprint":
            return alert.fingerprint
        if self.name == "startsAt":
            return instant(alert.starts)
        return None if alert.ends is None else instant(alert.ends)

    def number(self, alert: Alert, default: float | None) -> float:
        """Return the field's number; `default` where the alert lacks it.

        Raises
        ------
        InvalidInput
            PAYLOAD_INVALID, with the alert's place and the key, for what is no finite number.
        """
        text = self.text(alert)
        if text is None:
            if default is not None:
                return default
            raise self._fault(
                alert, "is missing; set default = NUMBER, the value to use for such alerts"
            )
        value = parse_number(text)
        if value is None or not math.isfinite(value):
            raise self._fault(alert, f"is {text!r}, not a finite number")
        return value

    def one_hot(self, alert: Alert, values: tuple[str, ...]) -> tuple[float, ...]:
        """Return 1 for the field's value and 0 for the other values."""
        text = self.text(alert)
        return tuple(float(text == value) for value in values)

    def _fault(self, alert: Alert, text: str) -> InvalidInput:
        place = f"{alert.place}.{self.holder}.{self.name}" if self.holder else alert.place
        return InvalidInput(f"{place} {text}", reason="PAYLOAD_INVALID", metadata={"place": place})
