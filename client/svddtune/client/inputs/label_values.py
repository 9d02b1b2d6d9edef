"""Class labels in common codes as verdicts."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

import numpy as np

from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.ids import by_id
from svddtune.client.inputs.validate import is_missing
from svddtune.client.types import Judgement, Label, Verdict

_CODES = {1: Verdict.INLIER, -1: Verdict.OUTLIER}
_WORDS = {
    "inlier": Verdict.INLIER,
    "normal": Verdict.INLIER,
    "outlier": Verdict.OUTLIER,
    "anomaly": Verdict.OUTLIER,
    "unsure": Verdict.UNSURE,
}
_UNKNOWN = frozenset({"", "?", "nan", "none", "null", "unknown"})
_SHOWN = 6
HOW = (
    "Use +1 or 'inlier', -1 or 'outlier', and 0 if it is not known; or name the value that marks "
    "an outlier with outlier_value="
)


def verdicts_of(
    values: Sequence[object], outlier_value: object = None, *, field: str = "labels"
) -> list[Verdict | None]:
    """Return the verdict of each value, None where it is not known.

    Without `outlier_value`: +1, "inlier" and "normal" are inliers; -1, "outlier" and "anomaly"
    outliers; 0 beside -1, missing values, "" and "?" are not known. With it: that value is an
    outlier and every other one that is not missing is an inlier.

    Raises
    ------
    InvalidInput
        LABELS_AMBIGUOUS for booleans and for 0 without -1, which mean either class;
        OUTLIER_VALUE_UNKNOWN where no label is `outlier_value`; INVALID_LABEL for all else.
    """
    plain = _plain_values(values, field)
    # Types matter: True == 1 and 1.0 == 1, but True is no code.
    first: dict[tuple[type, object], int] = {}
    for row, value in enumerate(plain):
        if value is not None:
            first.setdefault((type(value), value), row)
    found = [value for _, value in first]
    if outlier_value is not None:
        return _by_value(plain, found, outlier_value, field)
    if any(isinstance(value, bool) for value in found):
        raise _ambiguous(found, field, "Booleans")
    codes = {value for value in found if isinstance(value, int | float)}
    if 0 in codes and -1 not in codes:
        raise _ambiguous(found, field, "Labels of 0 and 1" if 1 in codes else "Labels of 0")
    verdicts = {value: _verdict(value, row, field) for (_, value), row in first.items()}
    return [None if value is None else verdicts[value] for value in plain]


def _plain_values(values: Sequence[object], field: str) -> list[object]:
    """Return each value as `_plain` does, worked out once for equal ones of one type."""
    known: dict[tuple[type, object], object] = {}
    plain: list[object] = []
    for row, value in enumerate(values):
        try:
            key = (type(value), value)
            if key not in known:
                known[key] = _plain(value)
        except TypeError:
            raise _invalid(value, row, field) from None
        plain.append(known[key])
    return plain


def _by_value(
    plain: list[object], found: list[object], outlier_value: object, field: str
) -> list[Verdict | None]:
    wanted = _plain(outlier_value)
    if wanted is None or isinstance(wanted, list | set | dict):
        raise InvalidInput(
            f"outlier_value = {outlier_value!r} cannot be the value of a label: give one of the "
            f"values in {field}: {_some(found)}",
            reason="OUTLIER_VALUE_UNKNOWN",
            metadata={"field": "outlier_value", "value": repr(outlier_value)},
        )
    if wanted not in found:
        raise InvalidInput(
            f"outlier_value = {outlier_value!r} ({type(wanted).__name__}) does not occur in "
            f"{field}, which holds: {_some(found)}",
            reason="OUTLIER_VALUE_UNKNOWN",
            metadata={"field": "outlier_value", "value": repr(outlier_value)},
        )
    if wanted == -1 and {0, 1} <= set(found):
        raise InvalidInput(
            f"In {field}, 0 beside +1 and -1 means 'not known', but outlier_value = -1 makes it an "
            "inlier: leave outlier_value out, or make the zeros +1",
            reason="LABELS_AMBIGUOUS",
            metadata={"field": field, "value": _some(found)},
        )
    return [
        None if value is None else Verdict.OUTLIER if value == wanted else Verdict.INLIER
        for value in plain
    ]


def _plain(value: object) -> object:
    """Return a value as Python has it: codes as numbers, also those in text; None if missing."""
    if is_missing(value):
        return None
    if isinstance(value, Verdict):
        return value.value
    if isinstance(value, str):
        text = str(value).strip()
        if text.lower() in _UNKNOWN:
            return None
        return {"0": 0, "1": 1, "+1": 1, "-1": -1}.get(text, text)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == int(value):
        return int(value)
    return value


def _verdict(value: object, row: int, field: str) -> Verdict | None:
    if value is None or value == 0:
        return None
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if isinstance(value, int) and value in _CODES:
        return _CODES[value]
    raise _invalid(value, row, field)


def _invalid(value: object, row: int, field: str) -> InvalidInput:
    return InvalidInput(
        f"{field} holds {value!r:.60} at position {row}, which is not a label. {HOW}",
        reason="INVALID_LABEL",
        metadata={"field": field, "row": str(row), "value": f"{value!r:.60}"},
    )


def _ambiguous(found: list[object], field: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"{what} may mean either class ({field} holds: {_some(found)}): name the value that "
        f"marks an outlier with outlier_value=, or use +1 for inliers and -1 for outliers",
        reason="LABELS_AMBIGUOUS",
        metadata={"field": field, "value": _some(found)},
    )


def _some(values: list[object]) -> str:
    shown = ", ".join(sorted(map(repr, values))[:_SHOWN])
    return shown + (", ..." if len(values) > _SHOWN else "") if values else "no label"


def labels_from(labels: Mapping[str, object] | Iterable[Label]) -> Iterator[Label]:
    """Yield labels; a mapping holds verdicts by observation id, as `Judgement.of` takes them."""
    if isinstance(labels, Mapping):
        for observation_id, verdict in by_id(labels).items():
            judgement = Judgement.of(verdict)
            yield Label(observation_id, judgement.verdict, confidence=judgement.confidence)
    else:
        yield from labels
