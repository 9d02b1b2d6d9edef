"""``svddtune session create`` and ``clone``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.completion import complete_dataset, complete_session
from svddtune.client.cli.names import DatasetName, Labels, SessionName, parse_labels
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.cli.session_options import takes_settings
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, say, tell
from svddtune.config import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from svddtune.client.client import TuningClient
    from svddtune.client.types import Dataset, Session, Verdict

_Name = Annotated[str | None, typer.Option(help="Name for people. Default: the dataset's.")]


@on_service
@takes_settings()
def create(
    dataset: DatasetName,
    name: _Name = None,
    start: files.StartFile = None,
    controls: files.ControlsFile = None,
    outlier_value: files.OutlierValue = None,
    from_session: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SESSION",
            help="Start with the labels of another session, or of sessions/ID/results/N. On other "
            "data they go to the same ids.",
            autocompletion=complete_session,
        ),
    ] = None,
    labeler: Annotated[
        str, typer.Option(metavar="NAME", help="Who gave the labels of --start. Default: initial.")
    ] = "",
    label: Labels = None,
    retention_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Delete it so long after its end; 0 keeps it for good. Default: as the service is "
            "set.",
        ),
    ] = None,
    *,
    settings: Settings,
    service: Service,
    as_json: Json = False,
) -> None:
    """Start a session on a dataset, and print its id."""
    from svddtune.client.cli.labeler_name import checked_labeler
    from svddtune.client.cli.lookup import find_dataset, source_name

    labels = parse_labels(label or ())
    if labeler:
        checked_labeler(labeler)
    with service.connect() as client:
        on = find_dataset(client, service, dataset)
        source = None if from_session is None else source_name(client, service, from_session)
        initial = {} if start is None else _initial(client, on, start, outlier_value)
        checks = {} if controls is None else _initial(client, on, controls, outlier_value)
        made = client.create_session(
            on,
            initial_labels=initial,
            controls=checks,
            from_session=source,
            name=on.display_name if name is None else name,
            labels=labels,
            labeler=labeler,
            retention_s=retention_s,
            **settings,
        )
    _tell(made, service, as_json)


@on_service
@takes_settings()
def clone(
    session: SessionName,
    with_labels: Annotated[
        bool, typer.Option("--labels", help="Start with the labels that are in force there.")
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET",
            help="Another dataset. Labels go to observations with the same id. Default: the same.",
            autocompletion=complete_dataset,
        ),
    ] = None,
    controls: files.ControlsFile = None,
    outlier_value: files.OutlierValue = None,
    name: Annotated[str | None, typer.Option(help="Name for people. Default: the same.")] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Labels of the new session. Repeatable. Default: the same."
        ),
    ] = None,
    retention_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Delete it so long after its end; 0 keeps it for good. Default: the same.",
        ),
    ] = None,
    *,
    settings: Settings,
    service: Service,
    as_json: Json = False,
) -> None:
    """Start a session with the settings of another, changed by those given; print its id.

    It has the control items of --controls, and none of the other's. The labels count against the
    budget: with --labels of a session that has spent it, give more.
    """
    from svddtune.client.cli.lookup import find_dataset, find_session

    with service.connect() as client:
        source = find_session(client, service, session)
        on = source.dataset if dataset is None else find_dataset(client, service, dataset)
        checks = {} if controls is None else _initial(client, on, controls, outlier_value)
        made = client.create_session(
            on,
            source.config,
            controls=checks,
            from_session=source if with_labels else None,
            name=source.display_name if name is None else name,
            labels=source.labels if label is None else parse_labels(label),
            retention_s=source.retention_s if retention_s is None else retention_s,
            **settings,
        )
    _tell(made, service, as_json)


def _initial(
    client: TuningClient, dataset: str | Dataset, start: Path, outlier_value: str | None
) -> dict[str, Verdict]:
    from svddtune.client.files.labels import read_labels, without_unsure

    ids = [observation.observation_id for observation in client.list_observations(dataset)]
    return without_unsure(read_labels(start, ids, outlier_value))


def _tell(session: Session, service: Service, as_json: bool) -> None:
    if as_json:
        print_json(session.to_dict())
        return
    from svddtune.client.runs.waiting import label_command

    id_ = session.name.removeprefix("sessions/")
    asked = session.config.budget - session.counts.total
    text = f"It asks for {many(asked, 'label')} of {many(session.observation_count, 'observation')}"
    if session.taken_over:
        text += (
            f", and has {many(session.taken_over.taken, 'label')} from {session.taken_over.source}"
        )
        if left := session.taken_over.left_out:
            text += f" ({left} left out)"
    elif session.counts.total:
        text += f", and has {many(session.counts.total, 'label')}"
    tell(id_)
    say(text + ".")
    if asked:
        say(f"Label with: {label_command(session, service.command)}")
    say(f"Follow it with: {service.command('watch', id_)}")
