"""``svddtune observations``: makes files for ``svddtune tune`` from the data of other systems."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli.file_options import input_file
from svddtune.client.cli.options import Json
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, stdout
from svddtune.text import formula_cell

if TYPE_CHECKING:
    from svddtune.client.alertmanager import AlertObservations

_ENDINGS = (".csv", ".parquet")

observations = typer.Typer(
    help="Make observations to label from the messages of other systems.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@observations.callback()
def _observations() -> None:
    """Make observations to label from the messages of other systems."""


@observations.command()
def alertmanager(
    payloads: Annotated[
        list[Path],
        typer.Argument(
            parser=input_file,
            metavar="PAYLOAD...",
            help="JSON as the webhook posts it: one payload, a list of payloads, or one payload "
            "per line; - is standard input.",
        ),
    ],
    features: Annotated[
        Path,
        typer.Option(
            exists=True, dir_okay=False, help="TOML file that says which features an alert gets."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv or .parquet.")
    ] = Path("observations.csv"),
    as_json: Json = False,
) -> None:
    """Turn Alertmanager's notifications (webhook, version 4) into observations to label.

    They carry no verdict. Each alert becomes one observation, in its last state; files are
    read in the order given. The output has an id, a key and a time for each, to join it with
    tickets, the fields that labelers are shown, and the features.
    """
    from svddtune.client.alertmanager import load_features, read_alerts, read_payloads
    from svddtune.client.alertmanager.observations import from_alerts
    from svddtune.client.errors import UsageError

    if out.suffix.lower() not in _ENDINGS:
        raise UsageError(f"--out {str(out)!r} must end in {' or '.join(_ENDINGS)}")
    wanted = load_features(features)
    notified = [payload for path in payloads for payload in read_payloads(path)]
    alerts = read_alerts(notified)
    found = from_alerts(alerts, wanted)
    _write(found, out)
    firing = sum(alert.status == "firing" for alert in alerts)
    if as_json:
        print_json(
            {
                "file": str(out),
                "payloads": len(notified),
                "observations": len(found.ids),
                "firing": firing,
                "features": list(found.feature_names),
            }
        )
        return
    console = stdout()
    console.print(
        f"{many(len(found.ids), 'observation')} with {many(len(found.feature_names), 'feature')} "
        f"from {many(len(notified), 'payload')}; {firing} still firing",
        soft_wrap=True,
    )
    console.print(f"{out}\n\nNext:", markup=False, soft_wrap=True)
    console.print(
        f"  {shlex.join(['svddtune', 'tune', str(out)])}   # you label",
        markup=False,
        soft_wrap=True,
    )
    console.print(
        f"  svddtune oracle check TICKETS --mapping NAME --observations {shlex.quote(str(out))}   "
        f"# tickets label",
        markup=False,
        soft_wrap=True,
    )


def _write(found: AlertObservations, path: Path) -> None:
    """Write a file whose column names have the meanings of `svddtune.client.files.data`.

    In CSV, text that a spreadsheet would take for a formula begins with an apostrophe; reading the
    file takes it away again.
    """
    from svddtune.client.alertmanager.payload import instant
    from svddtune.client.errors import InvalidInput
    from svddtune.client.extras import needs_extra
    from svddtune.client.files.data import DISPLAY, OBSERVATION

    shown = list(dict.fromkeys(name for fields in found.display for name in fields))
    columns: dict[str, list[str] | list[float]] = dict(
        zip(
            OBSERVATION,
            (list(found.ids), list(found.keys), [instant(time) for time in found.times]),
            strict=True,
        )
    )
    clash = next((n for n in found.feature_names if n in columns or n.startswith(DISPLAY)), None)
    if clash is not None:
        raise InvalidInput(
            f"The feature name {clash!r} is reserved in files of observations: use another name",
            reason="FEATURES_INVALID",
        )
    columns |= {
        f"{DISPLAY}{name}": [fields.get(name, "") for fields in found.display] for name in shown
    }
    columns |= {name: found.X[:, j].tolist() for j, name in enumerate(found.feature_names)}
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".parquet":
        with needs_extra("parquet", "Writing Parquet"):
            import pyarrow
            from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns), path)
        return
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(map(formula_cell, columns))
        for row in zip(*columns.values(), strict=True):
            writer.writerow(formula_cell(cell) if isinstance(cell, str) else cell for cell in row)
