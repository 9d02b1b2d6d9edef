"""``svddtune dataset``: stores files as datasets of a service, lists, shows and removes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli import file_options as files
from svddtune.client.cli.columns import Column, print_table
from svddtune.client.cli.confirm import check_can_ask, confirm
from svddtune.client.cli.names import (
    DatasetName,
    LabelFilter,
    Labels,
    NameFilter,
    Yes,
    parse_labels,
)
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, say, stderr, tell
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.types import Dataset

dataset = typer.Typer(
    help="Store files as datasets of a service; list, show and remove them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COLUMNS = (
    Column("dataset"),
    Column("name", flexible=True),
    Column("rows", right=True),
    Column("columns", right=True, rank=2),
    Column("sessions", right=True, rank=3),
    Column("created", rank=1),
)
_NAMES_SHOWN = 8


@dataset.command("add")
@on_service
def add(
    data: files.DataFile,
    name: Annotated[
        str | None, typer.Option(help="Name for people. Default: the file's, without endings.")
    ] = None,
    label_column: files.LabelColumn = None,
    id_column: files.IdColumn = None,
    show_column: files.Show = None,
    ignore: files.Ignore = None,
    header: files.Header = None,
    encoding: files.Encoding = "utf-8",
    decimal: files.Decimal = ".",
    delimiter: files.Delimiter = "",
    scaling: files.Scaling = "auto",
    label: Labels = None,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Store DATA as a dataset, and print its id. The same content again is the same dataset."""
    from svddtune.client.files.data import read_data
    from svddtune.client.files.read_table import read_table

    files.check_scaling(scaling)
    labels = parse_labels(label or ())
    source = read_data(
        read_table(data, header=header, form=files.text_format(encoding, decimal, delimiter)),
        label_column=label_column,
        id_column=id_column,
        show=show_column or (),
        ignore=ignore or (),
        scaling=scaling,
        verdicts=False,
    )
    files.show_notes(source.notes)
    with service.connect() as client, _bar(len(source.X)) as progress:
        stored = client.upload_dataset(
            source.X,
            name=files.data_name(data) if name is None else name,
            observation_ids=source.ids if source.has_ids else None,
            feature_names=source.feature_names or None,
            display=source.display,
            scaling=scaling,
            labels=labels,
            on_progress=progress,
        )
    if as_json:
        print_json(stored.to_dict() | {"warnings": files.notes_document(source.notes)})
        return
    id_ = stored.name.removeprefix("datasets/")
    tell(id_)
    rows, columns = stored.observation_count, stored.feature_count
    say(f"Stored {visible(stored.display_name)!r}: {many(rows, 'row')}, {many(columns, 'column')}.")
    # (The notes on the file have its columns with a single value.)
    for line in _repeated(stored):
        say(f"Note: {line}")
    say(f"Start a session with: {service.command('session', 'create', id_)}")


@dataset.command("list")
@on_service
def list_(
    name: NameFilter = "",
    label: LabelFilter = None,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """List the datasets of a service, newest first."""
    from svddtune.client.cli.lookup import short

    labels = parse_labels(label or ())
    with service.connect() as client:
        found = list(client.list_datasets(display_name=name, labels=labels))
    if as_json:
        print_json({"datasets": [one.to_dict() for one in found]})
        return
    if not found:
        say(f"No {'such ' if name or label else ''}datasets on {service.server}.")
        return
    print_table(
        _COLUMNS,
        (
            (
                short(one),
                one.display_name,
                str(one.observation_count),
                str(one.feature_count),
                str(one.session_count),
                one.create_time.strftime("%Y-%m-%d %H:%M") if one.create_time else "-",
            )
            for one in found
        ),
    )


@dataset.command("show")
@on_service
def show(dataset: DatasetName, *, service: Service, as_json: Json = False) -> None:
    """Show a dataset: its size, its columns, and what is suspicious about them."""
    from svddtune.client.cli.lookup import find_dataset

    with service.connect() as client:
        found = find_dataset(client, service, dataset)
    if as_json:
        print_json(found.to_dict())
        return
    id_ = found.name.removeprefix("datasets/")
    facts = {
        "dataset": id_,
        "name": visible(found.display_name),
        "rows": str(found.observation_count),
        "columns": _columns(found),
        "scaling": found.scaling,
        "sessions": str(found.session_count),
        "labels": ", ".join(f"{key}={visible(text)}" for key, text in found.labels.items()),
        "created": found.create_time.strftime("%Y-%m-%d %H:%M:%S %Z") if found.create_time else "",
    }
    for title, text in facts.items():
        if text:
            tell(f"{title:<10}{text}")
    for line in (*_repeated(found), *_constant(found)):
        tell(f"{'note':<10}{line}")
    if found.session_count:
        say(f"List its sessions with: {service.command('session', 'list', '--dataset', id_)}")
    else:
        say(f"Start a session with: {service.command('session', 'create', id_)}")


@dataset.command("remove")
@on_service
def remove(
    dataset: DatasetName, yes: Yes = False, *, service: Service, as_json: Json = False
) -> None:
    """Remove a dataset that no session uses, after a confirmation."""
    from svddtune.client.cli.lookup import find_dataset
    from svddtune.client.errors import WrongState

    check_can_ask(yes=yes, as_json=as_json)
    with service.connect() as client:
        found = find_dataset(client, service, dataset)
        id_ = found.name.removeprefix("datasets/")
        if not yes:
            named = f" ({visible(found.display_name)})" if found.display_name else ""
            say(f"Dataset {id_}{named} has {many(found.observation_count, 'row')}.")
        confirm("Remove it?", yes=yes)
        try:
            client.delete_dataset(found)
        except WrongState as error:
            listing = service.command("session", "list", "--dataset", id_)
            error.message += f" List its sessions with: {listing}"
            raise
    if as_json:
        print_json({"deleted": found.name})
        return
    say(f"Dataset {id_} is removed.")


def _columns(dataset: Dataset) -> str:
    text = str(dataset.feature_count)
    if names := dataset.feature_names:
        more = ", ..." if len(names) > _NAMES_SHOWN else ""
        text += f" ({', '.join(visible(name) for name in names[:_NAMES_SHOWN])}{more})"
    return text


def _repeated(dataset: Dataset) -> Iterator[str]:
    if rows := dataset.duplicate_row_count:
        yield f"{rows} row{' equals' if rows == 1 else 's equal'} an earlier row."


def _constant(dataset: Dataset) -> Iterator[str]:
    if dataset.constant_columns:
        names = dataset.feature_names
        shown = [
            visible(names[column]) if names else str(column) for column in dataset.constant_columns
        ]
        yield f"Columns with a single value: {', '.join(shown)}."


@contextmanager
def _bar(rows: int) -> Iterator[Callable[[int], None]]:
    """Show a bar of the rows sent on a terminal; yield what moves it."""
    from rich.progress import Progress

    console = stderr()
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("Sending the data", total=rows)
        yield lambda done: bar.update(task, completed=done)
