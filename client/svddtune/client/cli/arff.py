"""ARFF files, read tolerantly: DAMI's benchmark files do not all follow the letter."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

from svddtune.client.errors import InvalidInput

_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)


def read_arff(lines: Iterable[str], path: str) -> tuple[list[str], list[list[str]], list[int]]:
    """Return attribute names, the rows as text, and the line number of each row."""
    names: list[str] = []
    rows: list[list[str]] = []
    numbers: list[int] = []
    in_data = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            if text.startswith("{"):
                raise InvalidInput(f"{path} line {number}: sparse ARFF is not read; write it dense")
            rows.append(_split(text))
            numbers.append(number)
        elif text.lower().startswith("@attribute"):
            match = _ATTRIBUTE.match(text)
            if match is None:
                raise InvalidInput(f"{path} line {number}: {text!r} is not an attribute")
            names.append(match.group(1).strip("'\""))
        elif text.lower().startswith("@data"):
            in_data = True
        elif not text.lower().startswith("@relation"):
            raise InvalidInput(f"{path} line {number}: {text[:60]!r} does not belong in ARFF")
    if not in_data:
        raise InvalidInput(f"{path} has no @data section", reason="DATASET_EMPTY")
    return names, rows, numbers


def _split(text: str) -> list[str]:
    quote = '"' if '"' in text else "'"
    cells = next(csv.reader([text], quotechar=quote, skipinitialspace=True))
    return ["" if cell.strip() == "?" else cell.strip() for cell in cells]
