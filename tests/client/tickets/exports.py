"""Small exports and mappings for tests."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DESK = Path(__file__).parent / "desk.toml"
MAPPING = DESK.read_text(encoding="utf-8")


def mapping_file(folder: Path, text: str = MAPPING, name: str = "desk.toml") -> Path:
    """A mapping file in a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """One object a line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """What a spreadsheet exports."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def ticket(key: str, verdict: str = "confirmed", **changes: Any) -> dict[str, Any]:
    """A closed ticket about the row of the same name."""
    return {"key": key, "verdict": verdict, "state": "closed", "row": key} | changes
