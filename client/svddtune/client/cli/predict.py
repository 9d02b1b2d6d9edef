"""``svddtune predict``: which rows of a file a saved model calls outliers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.model_rows import ModelOrSession, listed, load_model, read_rows
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import print_json, say, stderr, stdout
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.cli.model_rows import Rows
    from svddtune.client.cli.scores import Scores
    from svddtune.client.model import SvddModel
    from svddtune.client.types import Unusual, Which

_BLOCK_ROWS = 4096


@on_service
def predict(
    model: ModelOrSession,
    data: files.DataFile,
    id_column: files.IdColumn = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            dir_okay=False,
            help="File to write, with the score of every row: .csv, .jsonl or .parquet. - is CSV "
            "on standard output.",
        ),
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Also write the N most unusual features of each row."
        ),
    ] = 0,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows",
            help="Judge the other rows if some hold values that are no finite numbers.",
        ),
    ] = False,
    which: Annotated[
        Literal["svdd", "refined"],
        typer.Option(
            help="Detector: the tuned SVDD, or the refined detector, which learns from the labels."
        ),
    ] = "svdd",
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Say which rows of DATA are outside MODEL, how far, and in which features they are unusual.

    Columns are matched by name if both have names, otherwise by position.
    """
    from svddtune.client.cli.outside import outside_table
    from svddtune.client.cli.scores import STANDARD_OUTPUT, write_scores
    from svddtune.client.errors import UsageError
    from svddtune.client.files.read_table import read_table
    from svddtune.client.json_values import jsonable
    from svddtune.client.outside import outside_of

    _check_out(out, {"MODEL": Path(model), "DATA": data})
    on_stdout = out == STANDARD_OUTPUT
    if on_stdout and as_json:
        raise UsageError("--out - and --json both write to standard output: give one of them")
    fitted, session = load_model(model, service)
    if reasons:
        fitted.known_profile()
    if which == "refined":
        fitted.known_refined()
    form = files.text_format(encoding, decimal, delimiter)
    table = read_table(data, header=header, form=form)
    rows = read_rows(table, fitted, id_column, ignore or (), skip_bad=skip_bad_rows)
    if rows.unused:
        say(f"Note: columns not used: {visible(listed(rows.unused))}")
    if rows.errors:
        say(f"Note: {len(rows.errors)} of {len(rows.X)} rows cannot be judged.")
    scores = _judged(fitted, rows, reasons, which)
    outside = outside_of(scores.decision, rows.ids)
    if out is not None:
        write_scores(out, scores)
    if on_stdout:
        return
    judged = len(rows.X) - len(rows.errors)
    if as_json:
        said = {found.row: found for found in outside}
        told = [found for found in scores.rows() if found["row"] in said]
        told.sort(key=lambda found: -found["score"])
        left_out = ("verdict", "error")
        print_json(
            {
                "model": {
                    "file": None if session else model,
                    "session": session or None,
                    "scaling": fitted.scaling,
                    "gamma": fitted.gamma,
                    "C": fitted.C,
                    "nu": fitted.nu,
                    "feature_names": list(fitted.feature_names),
                },
                "which": which,
                "data": str(data),
                "n": len(rows.X),
                "outside_count": len(outside),
                "outside": [
                    {name: value for name, value in found.items() if name not in left_out}
                    for found in told
                ],
                "bad_rows": [
                    {"row": row, "observation_id": rows.ids[row], "error": rows.errors[row]}
                    for row in sorted(rows.errors)
                ],
                "unused_columns": list(rows.unused),
                "files": jsonable({"scores": str(out)} if out is not None else {}),
            }
        )
        return
    console = stdout()
    share = f" ({len(outside) / judged:.1%})" if judged else ""
    console.print(f"{len(outside)} of {judged} rows are outside{share}.", markup=False)
    if outside:
        console.print(outside_table(outside, labels=False))
    if out is not None:
        say(f"Wrote {out}")


def _judged(model: SvddModel, rows: Rows, reasons: int, which: Which) -> Scores:
    """Judge the rows block by block, with a bar on a terminal."""
    import numpy as np
    from rich.progress import track

    from svddtune.client.cli.scores import Scores

    decision = np.full(len(rows.X), np.nan)
    probability = np.full(len(rows.X), np.nan) if which == "refined" else None
    why: list[tuple[Unusual, ...]] = [() for _ in rows.ids] if reasons else []
    good = np.array([row for row in range(len(rows.X)) if row not in rows.errors], dtype=np.int64)
    console = stderr()
    blocks = range(0, len(good), _BLOCK_ROWS)
    for start in track(
        blocks, "Judging rows", console=console, disable=not console.is_terminal, transient=True
    ):
        block = good[start : start + _BLOCK_ROWS]
        decision[block] = model.decision(rows.X[block], which=which)
        if probability is not None:
            probability[block] = model.probability(rows.X[block])
        if reasons:
            for row, found in zip(
                block.tolist(), model.unusual(rows.X[block], reasons), strict=True
            ):
                why[row] = found
    return Scores(decision, rows.ids, why, rows.errors, probability)


def _check_out(out: Path | None, inputs: dict[str, Path]) -> None:
    from svddtune.client.errors import UsageError

    if out is None or str(out) == "-":
        return
    for name, path in inputs.items():
        if out.exists() and path.exists() and out.samefile(path):
            raise UsageError(f"--out {out} is the file {name}: give another one")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"--out {out}: folder {out.absolute().parent} does not exist")
