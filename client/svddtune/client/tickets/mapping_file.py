"""Mapping files: TOML, version 1 -> `TicketMapping`, with exact errors.

::

    schema = 1
    name = "our-sentinel"
    version = "1"
    extends = "microsoft-sentinel"     # a shipped mapping, or a file beside this one

    [values]
    # What a file says replaces what it extends.
    inlier = ["FalsePositive", { value = "BenignPositive", confidence = 0.8 }]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.files.times import EPOCHS, TimeFormat, checked_pattern, zone_of
from svddtune.client.tickets.identity import Identity, identity
from svddtune.client.tickets.mapping import TicketMapping
from svddtune.client.tickets.mapping_keys import TIME_KEYS, checked, invalid, merged
from svddtune.client.tickets.values import Key, ValueTable
from svddtune.client.types import Judgement, Verdict

_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_SHIPPED = "svddtune.client.mappings"
_MEANINGS: dict[str, Verdict | None] = {
    "inlier": Verdict.INLIER,
    "outlier": Verdict.OUTLIER,
    "abstain": None,
}


def shipped_mappings() -> list[str]:
    """Return the names of the shipped mappings."""
    names = (item.name for item in resources.files(_SHIPPED).iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def mapping_text(name: str) -> str:
    """Return the text of a shipped mapping.

    Raises
    ------
    InvalidInput
        MAPPING_UNKNOWN where none has this name.
    """
    if name not in shipped_mappings():
        raise InvalidInput(
            f"There is no mapping {name!r}; use one of {', '.join(shipped_mappings())}, or a "
            f"file that ends in .toml",
            reason="MAPPING_UNKNOWN",
            metadata={"mapping": name},
        )
    return resources.files(_SHIPPED).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def load_mapping(source: str | Path, overrides: Sequence[str] = ()) -> TicketMapping:
    """Return a shipped mapping by name, or one from a .toml file.

    Parameters
    ----------
    source : str or path
        Name of a shipped mapping, or a .toml file.
    overrides : sequence of "VALUE=VERDICT" or "VALUE=VERDICT:CONFIDENCE"
        Verdicts (inlier, outlier or abstain) that replace those of the file, with the probability
        that they are right, above 0.5 and at most 1. With verdicts of several fields, VALUE has
        their values with slashes between.

    Raises
    ------
    InvalidInput
        MAPPING_UNKNOWN, or MAPPING_INVALID with file and key of the first fault.
    """
    layers = _layers(source, [])
    document: dict[str, Any] = {}
    for _, layer in layers:
        document = merged(document, layer)
    path = layers[-1][0]
    for where in ("product", "source", "fields.key", "fields.verdict", "values"):
        _required(document, where, path)
    fields, values = document["fields"], document["values"]
    verdict = _texts(fields["verdict"])
    case_sensitive = values.get("case_sensitive", True)
    rows: list[tuple[Key, Judgement | None]] = []
    for file, layer in layers:
        rows += _rows(layer.get("values", {}), file, len(verdict), case_sensitive)
    for text in overrides:
        rows += _override(text, len(verdict))
    table = ValueTable(rows, case_sensitive=case_sensitive)
    for one, two in table.conflicts():
        raise invalid(
            path,
            "values",
            f"{_shown(one)} and {_shown(two)} differ only in case or type, but have different "
            f"verdicts",
        )
    formats = _formats(document.get("time", {}), path)
    return TicketMapping(
        name=document["name"],
        product=document["product"],
        version=document["version"],
        sources=_texts(document["source"]),
        key=fields["key"],
        verdict=verdict,
        values=table,
        observation_id=fields.get("observation_id", ""),
        join_key=fields.get("join_key", ""),
        observed=fields.get("observed", ""),
        updated=fields.get("updated", ""),
        status=fields.get("status", ""),
        closed=_closed(document, path, case_sensitive),
        observed_format=formats["observed_format"],
        updated_format=formats["updated_format"],
        numbers_as_text=document.get("join", {}).get("numbers_as_text", False),
        overrides=tuple(overrides),
    )


def _layers(source: str | Path, above: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the documents, from the base to the one requested."""
    if isinstance(source, Path) or source.endswith(".toml") or "/" in source:
        file = str(source)
        try:
            text = Path(source).read_bytes()
        except (OSError, ValueError) as error:
            if not above:
                raise
            wrong = f"names {file!r}, which cannot be read"
            raise invalid(above[-1], "extends", wrong) from error
    else:
        file, text = f"mapping {source}", mapping_text(source).encode()
    if file in above:
        chain = " extends ".join([*above[above.index(file) :], file])
        raise invalid(file, "extends", f"is circular: {chain}")
    try:
        document = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(
            f"{file} is not TOML: {error}", reason="MAPPING_INVALID", metadata={"file": file}
        ) from None
    checked(document, file)
    parent = document.get("extends")
    if parent is None:
        return [(file, document)]
    if parent.endswith(".toml"):
        parent = str(Path(source).parent / parent)
    return [*_layers(parent, [*above, file]), (file, document)]


def _required(document: Mapping[str, Any], where: str, file: str) -> None:
    value: Any = document
    for name in where.split("."):
        value = value.get(name, {}) if isinstance(value, Mapping) else {}
    if not value:
        raise invalid(file, where, "is missing")


def _rows(
    values: Mapping[str, Any], file: str, width: int, case_sensitive: bool
) -> list[tuple[Key, Judgement | None]]:
    """Return one file's values; MAPPING_INVALID for a value with two meanings."""
    rows: list[tuple[Key, Judgement | None]] = []
    first: dict[Key, tuple[str, Judgement | None]] = {}
    for word in _MEANINGS:
        for entry in values.get(word, ()):
            value, confidence = entry, None
            if isinstance(entry, Mapping):
                value, confidence = entry["value"], entry["confidence"]
            try:
                meaning = _meaning(word, confidence)
            except InvalidInput as error:
                raise invalid(file, f"values.{word}", f"has {value!r}: {error.message}") from None
            parts = value if isinstance(value, list) else [value]
            if len(parts) > width:
                raise invalid(
                    file,
                    f"values.{word}",
                    f"has the value {value!r} with {len(parts)} parts, but fields.verdict names "
                    f"{width}",
                )
            key = tuple(map(identity, parts))
            folded = key if case_sensitive else _folded(key)
            earlier = first.setdefault(folded, (word, meaning))
            if earlier != (word, meaning):
                again = (
                    "twice, with two confidences"
                    if earlier[0] == word
                    else (f"which is also in values.{earlier[0]}")
                )
                raise invalid(file, f"values.{word}", f"has the value {_shown(key)}, {again}")
            rows.append((key, meaning))
    return rows


def _meaning(word: str, confidence: object) -> Judgement | None:
    """Return what a word of `_MEANINGS` says; INVALID_FIELD for a confidence out of range."""
    verdict = _MEANINGS[word]
    return None if verdict is None else Judgement.of((verdict, confidence))


def _override(text: str, width: int) -> Iterable[tuple[Key, Judgement | None]]:
    value, sign, said = text.rpartition("=")
    word, colon, sure = said.strip().lower().partition(":")
    if not sign or not value or word not in _MEANINGS or (colon and _MEANINGS[word] is None):
        raise InvalidInput(
            f"{text!r} is not a mapping of a value; write VALUE=VERDICT with inlier, outlier or "
            "abstain, e.g. BenignPositive=inlier, or BenignPositive=inlier:0.8 for a verdict that "
            "is right with probability 0.8",
            reason="MAPPING_INVALID",
            metadata={"value": text},
        )
    try:
        meaning = _meaning(word, float(sure) if colon else None)
    except (ValueError, InvalidInput):
        raise InvalidInput(
            f"The confidence in {text!r} is {sure!r}; allowed: a number above 0.5, at most 1",
            reason="MAPPING_INVALID",
            metadata={"value": text},
        ) from None
    parts = value.split("/", width - 1) if width > 1 else [value]
    yield tuple(map(identity, parts)), meaning
    # A command line has no types: where it may be a number it is one too.
    yield tuple(identity(int(p) if _WHOLE.fullmatch(p) else p) for p in parts), meaning


def _texts(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _closed(
    document: Mapping[str, Any], file: str, case_sensitive: bool
) -> ValueTable[bool] | None:
    closed = document.get("status", {}).get("closed")
    status = document["fields"].get("status")
    if status and closed is None:
        raise invalid(
            file, "status.closed", "is missing; it is needed because fields.status is set"
        )
    if closed is not None and not status:
        raise invalid(
            file, "fields.status", "is missing; it is needed because status.closed is set"
        )
    if closed is None:
        return None
    return ValueTable(
        [((identity(value),), True) for value in closed], case_sensitive=case_sensitive
    )


def _formats(time: Mapping[str, Any], file: str) -> dict[str, TimeFormat]:
    zone = None
    if "zone" in time:
        try:
            zone = zone_of(time["zone"])
        except InvalidInput as error:
            raise invalid(file, "time.zone", error.message) from None
    formats = {}
    for name in TIME_KEYS:
        where = name if name in time else "format"
        try:
            first, *also = map(checked_pattern, _texts(time.get(where, "iso8601")))
        except InvalidInput as error:
            raise invalid(file, f"time.{where}", error.message) from None
        if also and any(pattern in EPOCHS for pattern in (first, *also)):
            raise invalid(
                file, f"time.{where}", f"cannot combine {' or '.join(EPOCHS)} with another format"
            )
        formats[name] = TimeFormat(first, zone, tuple(also))
    return formats


def _folded(key: Key) -> Key:
    return tuple(Identity((part.kind, part.text.casefold())) for part in key)


def _shown(key: Key) -> str:
    return repr("/".join(map(str, key)))
