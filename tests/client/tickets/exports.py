"""Small exports and mappings for tests."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from svddtune.client import TicketOracle, Verdict

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


WINDOW: dict[str, Any] = {"window": "15m"}


def at(minute: int, host: str = "web", **changes: Any) -> dict[str, Any]:
    """A ticket about what a host did that many minutes after ten."""
    return ticket(f"T{minute}", host=host, seen=f"2024-05-01T10:{minute:02}:00Z", **changes)


def row(name: str, clock: str, host: str = "web") -> dict[str, Any]:
    """An observation of a host at a time of that day."""
    return {"id": name, "key": host, "time": f"2024-05-01T{clock}Z"}


def verdicts(oracle: TicketOracle) -> dict[str, Verdict | None]:
    """Observations that have one verdict."""
    return {name: decision.verdict for name, decision in oracle.decisions().items()}
