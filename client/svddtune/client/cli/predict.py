"""``svddtune predict``: which rows of a file a saved model calls outliers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.model_rows import ModelFile, listed, read_rows
from svddtune.client.cli.options import Json
from svddtune.client.terminal.output import print_json, say, stdout
from svddtune.text import visible


def predict(
    model: ModelFile,
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
            "--out", "-o", dir_okay=False, help="CSV file to write, with the score of every row."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which rows of DATA are outside MODEL, and how far.

    Columns are matched by name if both have names, otherwise by position.
    """
    from svddtune.client.cli.outside import outside_table, write_scores
    from svddtune.client.files.read_table import read_table
    from svddtune.client.json_values import jsonable
    from svddtune.client.model import SvddModel
    from svddtune.client.outside import outside_of

    _check_out(out, {"MODEL": model, "DATA": data})
    fitted = SvddModel.load(model)
    form = files.text_format(encoding, decimal, delimiter)
    table = read_table(data, header=header, form=form)
    rows = read_rows(table, fitted, id_column, ignore or ())
    if rows.unused:
        say(f"Note: columns not used: {visible(listed(rows.unused))}")
    decision = fitted.decision(rows.X)
    outside = outside_of(decision, rows.ids)
    if out is not None:
        write_scores(out, decision, rows.ids)
    if as_json:
        print_json(
            {
                "model": {
                    "file": str(model),
                    "scaling": fitted.scaling,
                    "gamma": fitted.gamma,
                    "C": fitted.C,
                    "nu": fitted.nu,
                    "feature_names": list(fitted.feature_names),
                },
                "data": str(data),
                "n": len(rows.X),
                "outside_count": len(outside),
                "outside": [
                    {"row": one.row, "observation_id": one.observation_id, "score": one.score}
                    for one in outside
                ],
                "unused_columns": list(rows.unused),
                "files": jsonable({"scores": str(out)} if out is not None else {}),
            }
        )
        return
    console = stdout()
    share = f"{len(outside) / len(rows.X):.1%}"
    console.print(f"{len(outside)} of {len(rows.X)} rows are outside ({share}).", markup=False)
    if outside:
        console.print(outside_table(outside, labels=False))
    if out is not None:
        say(f"Wrote {out}")


def _check_out(out: Path | None, inputs: dict[str, Path]) -> None:
    from svddtune.client.errors import UsageError

    if out is None:
        return
    for name, path in inputs.items():
        if out.exists() and path.exists() and out.samefile(path):
            raise UsageError(f"--out {out} is the file {name}: give another one")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"--out {out}: folder {out.absolute().parent} does not exist")
