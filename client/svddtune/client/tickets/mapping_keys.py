"""The keys of a mapping file: which there are, what kind of value each has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from svddtune.client.errors import InvalidInput

SCHEMA = 1
TIME_KEYS = ("observed_format", "updated_format")


def checked(document: Mapping[str, Any], file: str) -> None:
    """Raise where a file has unknown keys, lacks those each file has, or has values of no use.

    Raises
    ------
    InvalidInput
        MAPPING_INVALID with file and key.
    """
    if document.get("schema") != SCHEMA or isinstance(document.get("schema"), bool):
        fault = "is missing" if "schema" not in document else f"is {document['schema']!r}"
        raise invalid(file, "schema", f"{fault}; this version reads schema = {SCHEMA}")
    for name in ("name", "version"):
        if not document.get(name):
            raise invalid(file, name, "is missing")
    for name, value in document.items():
        table = _TABLES.get(name)
        if table is None:
            _check(_TOP, name, value, name, file)
            continue
        if not isinstance(value, Mapping):
            raise invalid(file, name, f"must be a table; begin it with [{name}]")
        for key, item in value.items():
            _check(table, key, item, f"{name}.{key}", file)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the keys of another on top; tables are merged key by key."""
    document = dict(base)
    for name, value in over.items():
        below = document.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            document[name] = {**below, **value}
        else:
            document[name] = value
    return document


def invalid(file: str, where: str, text: str) -> InvalidInput:
    """Return the error for a fault at a key of a file."""
    return InvalidInput(
        f"{file}: {where} {text}",
        reason="MAPPING_INVALID",
        metadata={"file": file, "key": where},
    )


_Check = tuple[Callable[[Any], bool], str]


def _check(table: Mapping[str, _Check], key: str, value: Any, where: str, file: str) -> None:
    if key not in table:
        names = sorted({*table, *_TABLES}) if table is _TOP else sorted(table)
        raise invalid(file, where, f"is not a key of a mapping; use one of {', '.join(names)}")
    holds, wanted = table[key]
    if not holds(value):
        raise invalid(file, where, f"is {value!r}, not {wanted}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) and value != ""


def _has_confidence(entry: Any) -> bool:
    return isinstance(entry, Mapping) and set(entry) == {"value", "confidence"}


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def _some(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: holds(value) or (bool(value) and _list_of(holds)(value))


_TEXT: _Check = (_is_text, "a text that is not empty")
_TEXTS: _Check = (_some(_is_text), "a text or a list of texts")
_TRUTH: _Check = (_is_truth, "true or false")
_PLAIN: _Check = (_list_of(_is_plain), "a list of texts and numbers")
_IS_VALUE = _some(_is_plain)
_VALUES: _Check = (
    _list_of(_IS_VALUE),
    "a list of texts, numbers, or lists of them for verdicts of several fields",
)
_JUDGED_VALUES: _Check = (
    _list_of(lambda entry: _IS_VALUE(entry.get("value", "") if _has_confidence(entry) else entry)),
    "a list of texts, numbers, lists of them for verdicts of several fields, or "
    "{ value = ..., confidence = ... }",
)

_TABLES: dict[str, dict[str, _Check]] = {
    "fields": {
        "key": _TEXT,
        "verdict": _TEXTS,
        "observation_id": _TEXT,
        "join_key": _TEXT,
        "observed": _TEXT,
        "updated": _TEXT,
        "status": _TEXT,
    },
    "status": {"closed": _PLAIN},
    "time": {"format": _TEXTS, "zone": _TEXT, **dict.fromkeys(TIME_KEYS, _TEXTS)},
    "values": {
        "case_sensitive": _TRUTH,
        "inlier": _JUDGED_VALUES,
        "outlier": _JUDGED_VALUES,
        "abstain": _VALUES,
    },
    "join": {"numbers_as_text": _TRUTH},
}
_TOP: dict[str, _Check] = {
    "schema": (lambda value: value == SCHEMA, str(SCHEMA)),
    "name": _TEXT,
    "product": _TEXT,
    "version": _TEXT,
    "source": _TEXTS,
    "extends": _TEXT,
}
