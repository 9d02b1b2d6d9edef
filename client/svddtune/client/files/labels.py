"""Verdicts from columns and files of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from svddtune.client.errors import InvalidInput, UsageError
from svddtune.client.files.numbers import exact_number, parse_number
from svddtune.client.files.read_table import read_table
from svddtune.client.files.source import Source, TextFormat
from svddtune.client.files.table import Note, Table
from svddtune.client.types import Verdict
from svddtune.text import without_formula_mark

_INLIER = frozenset({"inlier", "normal", "1"})
_OUTLIER = frozenset({"outlier", "anomaly", "-1"})
_UNKNOWN = frozenset({"", "?", "nan", "unknown", "none", "null"})
# The missing value of files that distinguish it from text.
_UNMARKED = frozenset({""})
_UNSURE = frozenset({"unsure"})
_YES = {"yes": Verdict.OUTLIER, "no": Verdict.INLIER}
_ROW_NAMES = frozenset({"row", "index"})
_ID_NAMES = frozenset({"id", "observation_id", "observation"})
_VERDICT_NAMES = ("verdict", "label", "outlier", "y", "class")


def column_verdicts(table: Table, column: int, outlier_value: str | None) -> dict[int, Verdict]:
    """Return verdicts by row for the rows of a column that hold one.

    Raises
    ------
    UsageError
        LABELS_AMBIGUOUS for 0 and 1 without `outlier_value`.
    InvalidInput
        INVALID_LABEL for a value that is no label.
    """
    name = table.names[column]
    texts = [text.strip() for text in table.text(column)]
    marked = None if outlier_value is None else _marked(texts, outlier_value.strip())
    unknown = (_UNMARKED if table.marks_missing else _UNKNOWN) - set(map(_form, marked or ()))
    values = [_form(text) for text in texts]
    distinct = set(values) - unknown
    if not distinct:
        raise InvalidInput(f"{table.path}: column {name!r} has no labels", reason="INVALID_LABEL")
    if marked is not None:
        if not marked:
            held = {text for text, value in zip(texts, values, strict=True) if value in distinct}
            raise UsageError(
                f"--outlier-value {outlier_value!r} does not occur in column {name!r} of "
                f"{table.path}; it holds: {_some(held)}"
            )
        return {
            row: Verdict.OUTLIER if text in marked else Verdict.INLIER
            for row, (text, value) in enumerate(zip(texts, values, strict=True))
            if value not in unknown
        }
    if "0" in distinct and "-1" not in distinct and distinct <= {"0", "1"}:
        raise UsageError(
            f"Column {name!r} of {table.path} holds {_some(distinct)}, and it is unclear which "
            f"value marks an outlier: name it with --outlier-value",
            reason="LABELS_AMBIGUOUS",
        )
    zero_is_unknown = distinct <= {"-1", "0", "1"}
    verdicts = dict[int, Verdict]()
    for row, value in enumerate(values):
        if value in unknown or (zero_is_unknown and value == "0"):
            continue
        verdict = _word(value, yes_no=distinct <= set(_YES) and "outlier" in name.lower())
        if verdict is None:
            raise InvalidInput(
                f"{table.place(row)}, column {name!r}: {texts[row]!r} is not a label. "
                "Use +1, inlier or normal; -1, outlier or anomaly; or name the value that marks "
                "an outlier with --outlier-value",
                reason="INVALID_LABEL",
                metadata={"row": str(row), "column": name, "value": value},
            )
        verdicts[row] = verdict
    return verdicts


def value_notes(table: Table, column: int, outlier_value: str) -> list[Note]:
    """Return a note where a column holds values similar to the outlier value."""
    wanted = outlier_value.strip()
    texts = {text.strip() for text in table.text(column)}
    marked = _marked(texts, wanted)
    looks = {_look(text) for text in marked}
    alike = sorted(text for text in texts - marked if text and _look(text) in looks)
    if not alike:
        return []
    name = table.names[column]
    message = (
        f"{table.path}, column {name!r}: {_some(alike)} counts as inlier; "
        f"--outlier-value {outlier_value!r} differs from it in case or leading zeros"
    )
    return [Note("SIMILAR_VALUES", name, message)]


def read_labels(
    path: Path, ids: Iterable[str], outlier_value: str | None, form: TextFormat | None = None
) -> dict[str, Verdict]:
    """Return verdicts by observation id from a file of (id or row, verdict).

    Raises
    ------
    InvalidInput
        UNKNOWN_OBSERVATION for a row that is not in the data; CONFLICTING_LABELS for two verdicts
        on one observation.
    """
    table = _read(Source.of(path), form)
    if len(table.columns) < 2:
        raise InvalidInput(
            f"{table.path} has one column; labels need two: the observation's id or row, and the "
            "verdict",
            reason="INVALID_LABEL",
        )
    names = list(ids)
    key, verdict = _label_columns(table)
    by_row = table.has_names and table.names[key].lower() in _ROW_NAMES
    known = {str(row): name for row, name in enumerate(names)} if by_row else dict.fromkeys(names)
    labels = dict[str, Verdict]()
    keys = table.text(key)
    for row, value in column_verdicts(table, verdict, outlier_value).items():
        given = keys[row]
        if given not in known:
            given = given.strip()
        if given not in known:  # a file that was written for spreadsheets too
            given = without_formula_mark(given)
        if given not in known:
            what = "row" if by_row else "observation"
            raise InvalidInput(
                f"{table.place(row)}: there is no {what} {given!r} in the data",
                reason="UNKNOWN_OBSERVATION",
                metadata={"observation_id": given, "row": str(row)},
            )
        observation_id = known[given] or given
        if labels.setdefault(observation_id, value) is not value:
            raise InvalidInput(
                f"{table.place(row)}: {given!r} is {value.value} here and "
                f"{labels[observation_id].value} in an earlier row",
                reason="CONFLICTING_LABELS",
                metadata={"observation_id": observation_id},
            )
    return labels


def without_unsure(labels: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Return the labels that are not "unsure"."""
    return {key: value for key, value in labels.items() if value is not Verdict.UNSURE}


def _read(source: Source, form: TextFormat | None) -> Table:
    """Read with or without a header: a first line may be a label, although it has no number."""
    table = read_table(source, header=False, form=form)
    if table.has_names:  # of a kind that always has them
        return table
    first = [_form(table.text(j)[0]) for j in range(len(table.columns))]
    keys = _ROW_NAMES | _ID_NAMES
    says_something = any(_is_number(cell) or _word(cell, yes_no=False) for cell in first)
    header = not keys.isdisjoint(first) or not says_something
    return read_table(source, header=True, form=form) if header else table


def _label_columns(table: Table) -> tuple[int, int]:
    if not table.has_names:
        return 0, 1
    lower = [name.lower() for name in table.names]
    key = next((j for j, name in enumerate(lower) if name in _ID_NAMES | _ROW_NAMES), 0)
    verdict = next((lower.index(name) for name in _VERDICT_NAMES if name in lower), -1)
    return key, verdict if verdict >= 0 else (1 if key == 0 else 0)


def _marked(texts: Iterable[str], wanted: str) -> set[str]:
    """Return the texts that equal the wanted value.

    Those that are identical or denote the same number; if there are none, those that differ in case
    only.
    """
    number = exact_number(wanted)
    distinct = set(texts)
    same = {t for t in distinct if t == wanted or (number and exact_number(t) == number)}
    return same or {t for t in distinct if t.casefold() == wanted.casefold()}


def _form(text: str) -> str:
    """Return a canonical form of a word or of an exact number."""
    text = text.strip()
    return exact_number(text) or text.casefold()


def _look(text: str) -> str:
    bare = text.casefold().lstrip("0")
    return exact_number(bare) or bare or "0"


def _is_number(text: str) -> bool:
    return parse_number(text) is not None


def _word(value: str, *, yes_no: bool) -> Verdict | None:
    if value in _INLIER:
        return Verdict.INLIER
    if value in _OUTLIER:
        return Verdict.OUTLIER
    if value in _UNSURE:
        return Verdict.UNSURE
    return _YES.get(value) if yes_no else None


def _some(values: Iterable[str]) -> str:
    ordered = sorted(values)
    return ", ".join(ordered[:6]) + (", ..." if len(ordered) > 6 else "")
