"""Columns and files of labels -> verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from svddtune.client.cli.tables import Table, read_table
from svddtune.client.cli.usage import UsageError
from svddtune.client.errors import InvalidInput
from svddtune.client.types import Verdict

_INLIER = frozenset({"inlier", "normal", "1"})
_OUTLIER = frozenset({"outlier", "anomaly", "-1"})
_UNKNOWN = frozenset({"", "?", "nan", "unknown", "none", "null"})
_UNSURE = frozenset({"unsure"})
_YES = {"yes": Verdict.OUTLIER, "no": Verdict.INLIER}
_ROW_NAMES = frozenset({"row", "index"})
_ID_NAMES = frozenset({"id", "observation_id", "observation"})
_VERDICT_NAMES = ("verdict", "label", "outlier", "y", "class")


def column_verdicts(table: Table, column: int, outlier_value: str | None) -> dict[int, Verdict]:
    """Return row -> verdict for the rows of a column that say one.

    Raises
    ------
    UsageError
        LABELS_AMBIGUOUS for 0 and 1 without `outlier_value`.
    InvalidInput
        INVALID_LABEL for anything that is not understood.
    """
    name = table.names[column]
    values = [_canonical(value) for value in table.text(column)]
    distinct = set(values) - _UNKNOWN
    if not distinct:
        raise InvalidInput(f"{table.path}: column {name!r} holds no labels", reason="INVALID_LABEL")
    if outlier_value is not None:
        wanted = _canonical(outlier_value)
        if wanted not in distinct:
            raise UsageError(
                f"--outlier-value {outlier_value!r} does not occur in column {name!r} of "
                f"{table.path}; it holds: {_some(distinct)}"
            )
        return {
            row: Verdict.OUTLIER if value == wanted else Verdict.INLIER
            for row, value in enumerate(values)
            if value not in _UNKNOWN
        }
    if "0" in distinct and "-1" not in distinct and distinct <= {"0", "1"}:
        raise UsageError(
            f"Column {name!r} of {table.path} holds {_some(distinct)}, which may mean either "
            "class: say which value marks an outlier with --outlier-value",
            reason="LABELS_AMBIGUOUS",
        )
    zero_is_unknown = distinct <= {"-1", "0", "1"}
    verdicts = dict[int, Verdict]()
    for row, value in enumerate(values):
        if value in _UNKNOWN or (zero_is_unknown and value == "0"):
            continue
        verdict = _word(value, yes_no=distinct <= set(_YES) and "outlier" in name.lower())
        if verdict is None:
            raise InvalidInput(
                f"{table.place(row)}, column {name!r}: {table.text(column)[row]!r} is not a label. "
                "Use +1, inlier or normal; -1, outlier or anomaly; or name the value that marks "
                "an outlier with --outlier-value",
                reason="INVALID_LABEL",
                metadata={"row": str(row), "column": name, "value": value},
            )
        verdicts[row] = verdict
    return verdicts


def read_labels(path: Path, ids: Iterable[str], outlier_value: str | None) -> dict[str, Verdict]:
    """Return observation id -> verdict from a file of (id or row, verdict).

    Raises
    ------
    InvalidInput
        UNKNOWN_OBSERVATION for a row that the data have not, CONFLICTING_LABELS for two verdicts
        about one.
    """
    table = _read(path)
    if len(table.columns) < 2:
        raise InvalidInput(
            f"{path} has one column; labels need two: the observation's id or row, and the verdict",
            reason="INVALID_LABEL",
        )
    names = list(ids)
    key, verdict = _label_columns(table)
    by_row = table.has_names and table.names[key].lower() in _ROW_NAMES
    known = {str(row): name for row, name in enumerate(names)} if by_row else dict.fromkeys(names)
    labels = dict[str, Verdict]()
    for row, value in column_verdicts(table, verdict, outlier_value).items():
        given = table.text(key)[row].strip()
        if given not in known:
            what = "row" if by_row else "observation"
            raise InvalidInput(
                f"{table.place(row)}: the data have no {what} {given!r}",
                reason="UNKNOWN_OBSERVATION",
                metadata={"observation_id": given, "row": str(row)},
            )
        observation_id = known[given] or given
        if labels.setdefault(observation_id, value) is not value:
            raise InvalidInput(
                f"{table.place(row)}: {given!r} is {value.value} here and "
                f"{labels[observation_id].value} further up",
                reason="CONFLICTING_LABELS",
                metadata={"observation_id": observation_id},
            )
    return labels


def without_unsure(labels: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Return the labels that say something."""
    return {key: value for key, value in labels.items() if value is not Verdict.UNSURE}


def _read(path: Path) -> Table:
    """Read with or without a header: a first line of ids and verdicts has no number in it."""
    table = read_table(path, header=False)
    if table.has_names:  # of a kind that always has them
        return table
    first = [_canonical(table.text(j)[0]) for j in range(len(table.columns))]
    keys = _ROW_NAMES | _ID_NAMES
    says_something = any(_is_number(cell) or _word(cell, yes_no=False) for cell in first)
    header = not keys.isdisjoint(first) or not says_something
    return read_table(path, header=True) if header else table


def _label_columns(table: Table) -> tuple[int, int]:
    if not table.has_names:
        return 0, 1
    lower = [name.lower() for name in table.names]
    key = next((j for j, name in enumerate(lower) if name in _ID_NAMES | _ROW_NAMES), 0)
    verdict = next((lower.index(name) for name in _VERDICT_NAMES if name in lower), -1)
    return key, verdict if verdict >= 0 else (1 if key == 0 else 0)


def _canonical(value: str) -> str:
    text = value.strip().lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number:g}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
