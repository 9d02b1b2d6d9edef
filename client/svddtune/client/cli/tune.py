"""``svddtune tune``: tunes on a file and writes the model."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.options import FromSession, Json, TlsCa
from svddtune.client.cli.session_options import takes_settings
from svddtune.config import Settings

# People take longer than programs until their pace is known.
_PERSON_LEASE_S = 600.0


@takes_settings()
def tune(
    data: files.DataFile,
    labels: files.LabelsFile = None,
    label_column: files.LabelColumn = None,
    outlier_value: files.OutlierValue = None,
    id_column: files.IdColumn = None,
    show: files.Show = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    start: files.StartFile = None,
    from_session: FromSession = None,
    controls: files.ControlsFile = None,
    *,
    settings: Settings,
    scaling: files.Scaling = "auto",
    cold: Annotated[
        bool, typer.Option("--cold", help="Start without any label, even if some are known.")
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(
            envvar="SVDDTUNE_SERVER",
            metavar="HOST:PORT",
            help="Service to use. Default: one that is started for this run only.",
        ),
    ] = None,
    tls_ca: TlsCa = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of worker processes if --server is not given.")
    ] = 2,
    retention_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Let --server delete the session so long after its end; 0 keeps it for good. "
            "Default: as the service is set.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the model, the result, the picture and the outliers. "
            "Default: a new one."
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the run until it has ended. Default: a new one."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tune gamma and C on DATA by asking about well-chosen rows.

    Answers come from --labels, --label-column or the y of an NPZ file; otherwise you are asked.
    Every answer is kept: continue an interrupted run with svddtune resume.
    """
    from svddtune.client.cli.lookup import find_source
    from svddtune.client.cli.service import Service
    from svddtune.client.cli.tuning_run import SavedCommand, check_out, run_and_report
    from svddtune.client.errors import UsageError
    from svddtune.client.files.data import read_data
    from svddtune.client.files.labels import read_labels, without_unsure
    from svddtune.client.files.read_table import read_table
    from svddtune.client.files.source import STDIN
    from svddtune.client.oracles import KnownLabels
    from svddtune.client.runs.kept import new_folder
    from svddtune.client.runs.tune import tune as run_tune
    from svddtune.client.terminal.prompt import TerminalPrompt

    files.check_scaling(scaling)
    if cold and from_session is not None:
        raise UsageError(
            "--cold starts without labels, and --from gives some: leave one of them out"
        )
    for option, value in (("--retention-s", retention_s), ("--controls", controls)):
        if value is not None and server is None:
            raise UsageError(
                f"{option} is about a session of a running service: give its --server",
                metadata={"option": option, "value": str(value)},
            )
    origin = None if from_session is None else find_source(from_session, server, tls_ca)
    files.check_one_stdin(
        {"DATA": data, "--labels": labels, "--start": start, "--controls": controls}
    )
    form = files.text_format(encoding, decimal, delimiter)
    source = read_data(
        read_table(data, header=header, form=form),
        label_column=label_column,
        id_column=id_column,
        show=show or (),
        ignore=ignore or (),
        outlier_value=outlier_value,
        scaling=scaling,
    )
    files.show_notes(source.notes)
    known = {source.ids[row]: verdict for row, verdict in source.known.items()}
    if labels is not None:
        known = read_labels(labels, source.ids, outlier_value, form)
    initial = None
    if start is not None:
        initial = without_unsure(read_labels(start, source.ids, outlier_value, form))
    checks = {}
    if controls is not None:
        checks = without_unsure(read_labels(controls, source.ids, outlier_value, form))
    if cold and start is not None:
        raise UsageError(
            "--cold starts without labels, and --start gives some: leave one of them out"
        )
    nothing_asked = initial is not None and settings.get("budget") == len(initial)
    if not known and not nothing_asked and STDIN in (data, labels, start, controls):
        raise UsageError(
            "A file is read from standard input, so nobody can answer at the terminal: give "
            "--labels or --label-column, or give the file by its path"
        )
    if not known and not nothing_asked and not sys.stdin.isatty():
        raise UsageError(
            "Standard input is not a terminal, so nobody can answer: give --labels or "
            "--label-column, or run this at a terminal"
        )
    oracle: Any = KnownLabels(known) if known or nothing_asked else TerminalPrompt()
    human = not isinstance(oracle, KnownLabels)
    command = SavedCommand(
        source=str(data),
        known=None if human else {key: verdict.value for key, verdict in known.items()},
        out=None if out is None else str(out.absolute()),
        warnings=files.notes_document(source.notes),
    )
    if out is not None:
        check_out(out)
    folder = None
    if server is None:
        folder = new_folder(files.data_name(data)) if data_dir is None else data_dir.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        command.save(folder)
    run_and_report(
        command,
        partial(
            run_tune,
            source.X,
            initial=(0, 0) if cold else initial,
            from_session=origin,
            controls=checks,
            server=server,
            tls_ca=tls_ca,
            workers=workers,
            ids=source.ids if source.has_ids else None,
            feature_names=source.feature_names,
            display=source.display,
            scaling=scaling,
            name=files.data_name(data),
            labeler="terminal" if human else "known-labels",
            human=human,
            storage=folder,
            retention_s=retention_s,
            **({"lease_seconds": _PERSON_LEASE_S} if human else {}) | settings,
        ),
        oracle=oracle,
        X=source.X,
        ids=source.ids,
        folder=folder,
        as_json=as_json,
        service=None if server is None else Service(server, tls_ca),
    )
