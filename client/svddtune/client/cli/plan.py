"""``svddtune plan``: what tuning on a file would cost, without doing any of it."""

from __future__ import annotations

from typing import Annotated

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.options import Json
from svddtune.client.cli.session_options import takes_settings
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, stdout
from svddtune.config import Settings
from svddtune.cost import DEFAULT_MEMORY_MIB, duration, estimate, size


@takes_settings(("strategy",))
def plan(
    data: files.DataFile,
    label_column: files.LabelColumn = None,
    id_column: files.IdColumn = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    *,
    settings: Settings,
    scaling: files.Scaling = "auto",
    memory_mib: Annotated[
        int,
        typer.Option(
            min=256, envvar="SVDDTUNE_MEMORY_MIB", help="Memory that a worker may use, in MiB."
        ),
    ] = DEFAULT_MEMORY_MIB,
    as_json: Json = False,
) -> None:
    """Estimate time and memory of tuning on DATA. Nothing is created.

    The time is that of one free worker until the first question. A factor of two either way is
    usual.
    """
    from svddtune.client.files.data import read_data
    from svddtune.client.files.read_table import read_table
    from svddtune.config import SessionConfig

    files.check_scaling(scaling)
    source = read_data(
        read_table(data, header=header, form=files.text_format(encoding, decimal, delimiter)),
        label_column=label_column,
        id_column=id_column,
        ignore=ignore or (),
        scaling=scaling,
        verdicts=False,
    )
    rows, features = source.X.shape
    strategy = settings.get("strategy") or SessionConfig().strategy
    cost = estimate(
        rows,
        features,
        several=scaling == "auto",
        atlas=SessionConfig(strategy=strategy).needs_atlas,
    )
    fits = cost.memory_bytes <= memory_mib << 20
    if as_json:
        print_json(
            {
                "data": str(data),
                "rows": rows,
                "features": features,
                "first_question_s": round(cost.seconds, 1),
                "worker_memory_bytes": cost.memory_bytes,
                "memory_limit_bytes": memory_mib << 20,
                "fits": fits,
            }
        )
        return
    console = stdout()
    console.print(f"{many(rows, 'row')} x {many(features, 'feature')}", markup=False)
    console.print(f"first question    after about {duration(cost.seconds)} with one free worker")
    limit = size(memory_mib << 20)
    verdict = "of" if fits else "more than the"
    console.print(
        f"memory of worker  about {size(cost.memory_bytes)}, {verdict} {limit} it may use"
    )
    if not fits:
        console.print(
            "A service would refuse this session: use fewer rows or columns, or let service and "
            "workers use more (--memory-mib or SVDDTUNE_MEMORY_MIB)."
        )
