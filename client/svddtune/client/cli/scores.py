"""Files with the score of every row: CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from svddtune.client.extras import needs_extra
from svddtune.client.types import FloatArray, Unusual, Verdict
from svddtune.client.whole_file import whole_file
from svddtune.text import formula_cell

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What a model says about the rows of a file.

    Attributes
    ----------
    decision : array (n,)
        Negative for outliers; NaN for rows that cannot be judged.
    ids : sequence of n str
        Observation ids.
    reasons : sequence of n tuples, optional
        The most unusual features of each row; empty where none were asked for.
    errors : mapping of int to str
        By row, why it cannot be judged.
    probability : array (n,), optional
        Of being an outlier, where the detector tells it; NaN as `decision`.
    """

    decision: FloatArray
    ids: Sequence[str]
    reasons: Sequence[tuple[Unusual, ...]] = ()
    errors: Mapping[int, str] = field(default_factory=dict)
    probability: FloatArray | None = None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row as plain values; verdict and score of a row with an error are None."""
        for row, (name, value) in enumerate(zip(self.ids, self.decision.tolist(), strict=True)):
            judged = row not in self.errors
            verdict = (Verdict.OUTLIER if value < 0 else Verdict.INLIER).value
            found: dict[str, Any] = {
                "row": row,
                "observation_id": name,
                "verdict": verdict if judged else None,
                "score": 0.0 - value if judged else None,
            }
            if self.probability is not None:
                found["probability"] = float(self.probability[row]) if judged else None
            if self.reasons:
                found["reasons"] = [
                    {
                        "feature": one.name,
                        "value": one.value,
                        "typical": one.typical,
                        "deviation": one.deviation,
                    }
                    for one in (self.reasons[row] if judged else ())
                ]
            if self.errors:
                found["error"] = self.errors.get(row)
            yield found

    def flat_rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row with its reasons as columns of their own."""
        width = max(map(len, self.reasons), default=0)
        for found in self.rows():
            reasons = found.pop("reasons", [])
            error = {"error": found.pop("error")} if self.errors else {}
            for number in range(width):
                one = reasons[number] if number < len(reasons) else {}
                found[f"reason_{number + 1}"] = one.get("feature")
                found[f"deviation_{number + 1}"] = one.get("deviation")
            yield found | error


def write_scores(path: Path, scores: Scores) -> None:
    """Write the score of every row, in the order of the data, completely or not at all.

    Parameters
    ----------
    path : Path
        Its ending gives the format: .jsonl JSON lines, .parquet Parquet, else CSV; "-" is CSV on
        standard output.
    scores : Scores
        The score is that of `OutsideRow`: positive for outliers.

    Raises
    ------
    NotInstalled
        For Parquet, where the extra parquet is not installed.
    OSError
        The file cannot be written.
    """
    if path == STANDARD_OUTPUT:
        _write_csv(sys.stdout, scores)
    elif path.suffix == ".parquet":
        _write_parquet(path, scores)
    else:
        write = _write_lines if path.suffix == ".jsonl" else _write_csv
        with whole_file(path) as raw, TextIOWrapper(raw, encoding="utf-8", newline="") as file:
            write(file, scores)


def _write_csv(file: IO[str], scores: Scores) -> None:
    """Text that a spreadsheet would run as a formula begins with an apostrophe."""
    writer = csv.writer(file)
    for row, found in enumerate(scores.flat_rows()):
        if row == 0:
            writer.writerow(found)
        writer.writerow(_cell(value) for value in found.values())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return formula_cell(value) if isinstance(value, str) else repr(value)


def _write_lines(file: IO[str], scores: Scores) -> None:
    for found in scores.rows():
        file.write(json.dumps(found, allow_nan=False, ensure_ascii=False) + "\n")


def _write_parquet(path: Path, scores: Scores) -> None:
    with needs_extra("parquet", "Writing Parquet"):
        import pyarrow
        from pyarrow import parquet
    rows, number = list(scores.flat_rows()), pyarrow.float64()
    kinds = {"row": pyarrow.int64(), "score": number, "probability": number, "deviation": number}
    columns = {
        name: pyarrow.array(
            [found[name] for found in rows],
            pyarrow.float64()
            if name.startswith("deviation_")
            else kinds.get(name, pyarrow.string()),
        )
        for name in rows[0]
    }
    with whole_file(path) as file:
        parquet.write_table(pyarrow.table(columns), file)
