"""``svddtune oracle simulate``: estimates a session's cost and outcome before labelling."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.file_options import input_file
from svddtune.client.cli.options import FromSession, Json, TlsCa
from svddtune.client.cli.session_options import takes_settings
from svddtune.client.terminal.output import print_json
from svddtune.config import SETTINGS, Settings

if TYPE_CHECKING:
    from svddtune.client.cli.simulation import Simulation
    from svddtune.client.files.data import Data
    from svddtune.client.files.source import TextFormat
    from svddtune.client.oracles import SimulatedLabeler

_SHARES = "One number, or one per true class: inlier=0.02,outlier=0.2."


@takes_settings([name for name in SETTINGS if name != "priority"])
def simulate(
    data: Annotated[
        Path | None,
        typer.Argument(
            parser=input_file,
            metavar="[DATA]",
            help="Labelled data, in the formats of svddtune tune; or give --demo.",
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Use the data of svddtune demo, which come with scikit-learn."),
    ] = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            parser=input_file,
            metavar="FILE",
            help="True classes: file with two columns, the id or row and the verdict.",
        ),
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="True classes: column of DATA, by name or by number from 0.")
    ] = None,
    outlier_value: files.OutlierValue = None,
    id_column: files.IdColumn = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    labelers: Annotated[
        int, typer.Option(min=1, max=100, help="Number of simulated labelers.")
    ] = 1,
    noise: Annotated[str, typer.Option(help=f"Share of wrong verdicts. {_SHARES}")] = "0",
    abstain: Annotated[float, typer.Option(help="Share of queries answered with unsure.")] = 0.0,
    pass_on: Annotated[
        float, typer.Option(help="Share of queries skipped, to be asked of other labelers.")
    ] = 0.0,
    consistency: Annotated[
        float,
        typer.Option(
            help="Share of repeats that get the same answer as before; see --repeat-every."
        ),
    ] = 1.0,
    delay: Annotated[float, typer.Option(help="Median time to answer a query, in seconds.")] = 0.0,
    delay_sigma: Annotated[
        float,
        typer.Option(
            help="Standard deviation of the logarithm of the (log-normal) delay; "
            "0 makes it constant."
        ),
    ] = 0.0,
    cost: Annotated[str, typer.Option(help=f"Cost of one answer. {_SHARES}")] = "0",
    from_session: FromSession = None,
    *,
    settings: Settings,
    scaling: files.Scaling = "auto",
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Let the simulated delays pass in real time.")
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
    as_json: Json = False,
) -> None:
    """Plan before you ask anybody: run a session with simulated labelers on labelled data.

    The labelers err, abstain and take time as the options say. The session is real, from its first
    query to its model; it starts without labels, unless --from gives some. The report says what it
    reached on all rows and what it cost.
    """
    from svddtune.client.cli.lookup import find_source
    from svddtune.client.cli.progress import ProgressBar
    from svddtune.client.cli.simulation import run_simulation
    from svddtune.client.errors import UsageError
    from svddtune.client.inputs.settings import read_settings

    files.check_scaling(scaling)
    origin = None if from_session is None else find_source(from_session, server, tls_ca)
    config = read_settings(settings)
    if config.overlap > labelers:
        raise UsageError(
            f"--overlap {config.overlap} needs at least {config.overlap} labelers: give "
            f"--labelers {config.overlap} or more"
        )
    source, name = _source(
        data,
        demo,
        labels=labels,
        label_column=label_column,
        outlier_value=outlier_value,
        id_column=id_column,
        ignore=ignore or (),
        header=header,
        form=files.text_format(encoding, decimal, delimiter),
        scaling=scaling,
    )
    files.show_notes(source.notes)
    truth = {source.ids[row]: verdict for row, verdict in source.known.items()}
    group = _simulated_labelers(
        truth,
        labelers,
        noise=_per_class(noise, "--noise"),
        unsure=abstain,
        pass_on=pass_on,
        consistency=consistency,
        delay_s=delay,
        delay_sigma=delay_sigma,
        cost=_per_class(cost, "--cost"),
        seed=config.seed,
    )
    with ProgressBar() as progress:
        simulation: Simulation = run_simulation(
            source,
            group,
            config,
            name=name,
            scaling=scaling,
            from_session=origin,
            server=server,
            tls_ca=tls_ca,
            workers=workers,
            real_time=real_time,
            on_progress=progress,
        )
    if as_json:
        print_json(simulation.document() | {"warnings": files.notes_document(source.notes)})
        return
    simulation.show()


def _source(
    data: Path | None,
    demo: bool,
    *,
    labels: Path | None,
    outlier_value: str | None,
    header: bool | None,
    form: TextFormat,
    **columns: Any,
) -> tuple[Data, str]:
    """Return the rows with their truth, and the name of the data."""
    from dataclasses import replace

    from svddtune.client.errors import UsageError
    from svddtune.client.files.data import read_data
    from svddtune.client.files.labels import read_labels
    from svddtune.client.files.read_table import read_table

    if demo is (data is not None):
        raise UsageError("Give either a file of labelled data or --demo")
    if data is None:
        return _demo_data(), "wisconsin"
    files.check_one_stdin({"DATA": data, "--labels": labels})
    table = read_table(data, header=header, form=form)
    source = read_data(table, outlier_value=outlier_value, **columns)
    if labels is not None:
        rows = {observation_id: row for row, observation_id in enumerate(source.ids)}
        read = read_labels(labels, source.ids, outlier_value, form)
        source = replace(source, known={rows[key]: verdict for key, verdict in read.items()})
    if not source.known:
        raise UsageError(
            f"Simulated labelers need the true classes of {data}: give --labels or --label-column"
        )
    return source, files.data_name(data)


def _demo_data() -> Data:
    from svddtune.client.cli.demo import FEATURE_NAMES, wisconsin
    from svddtune.client.files.data import Data
    from svddtune.client.types import Verdict

    X, truth, ids = wisconsin()
    known = {row: Verdict.of(int(sign)) for row, sign in enumerate(truth)}
    return Data(X, ids, True, FEATURE_NAMES, None, known)


def _simulated_labelers(truth: Any, count: int, **habits: Any) -> list[SimulatedLabeler]:
    from svddtune.client.oracles import SimulatedLabeler

    width = len(str(count))
    with _as_usage():
        return [
            SimulatedLabeler(truth, name=f"simulated-{i:0{width}}", **habits)
            for i in range(1, count + 1)
        ]


def _per_class(text: str, option: str) -> float | dict[str, float]:
    """Return "0.1" as a number, "inlier=0.02,outlier=0.2" as numbers by class."""
    from svddtune.client.errors import UsageError

    try:
        if "=" not in text:
            return _number(text)
        pairs = [part.split("=") for part in text.split(",")]
        return {key.strip(): _number(value) for key, value in pairs}
    except ValueError:
        raise UsageError(
            f"{option} {text!r} is neither a number nor of the form inlier=A,outlier=B"
        ) from None


def _number(text: str) -> float:
    from svddtune.client.files.numbers import parse_number

    value = parse_number(text)
    if value is None:
        raise ValueError
    return value


@contextlib.contextmanager
def _as_usage() -> Iterator[None]:
    """Turn an error about a value into one about its option."""
    from svddtune.client.errors import InvalidInput, UsageError

    try:
        yield
    except InvalidInput as error:
        raise UsageError(error.message) from None
