"""``svddtune session list`` and ``show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from svddtune.client.cli.columns import Column, print_table
from svddtune.client.cli.completion import complete_dataset
from svddtune.client.cli.names import LabelFilter, NameFilter, SessionName, parse_labels
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.phrases import many
from svddtune.client.terminal.output import (
    compared,
    estimated,
    evidence,
    figure,
    gamma_of,
    print_json,
    say,
    tell,
)
from svddtune.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svddtune.client.types import Session

_COLUMNS = (
    Column("session"),
    Column("name", flexible=True),
    Column("state"),
    Column("waits for", rare=True),
    Column("labels", right=True),
    Column("outlier", right=True, rank=2),
    Column("created", rank=1),
    Column("due", rank=1, rare=True),
    Column("gamma", rank=3),
    Column("kept until", rank=2, rare=True),
)

# (In few words: the table keeps room for names.)
_AWAITED = {
    "no_workers": "a worker",
    "awaiting_votes": "votes",
    "awaiting_adjudication": "an adjudicator",
    "job_given_up": "jobs retry",
}


@on_service
def list_(
    state: Annotated[
        list[str] | None,
        typer.Option(
            help="Only sessions in this state, e.g. labeling. Repeatable: in any of them."
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="DATASET",
            help="Only sessions on this dataset.",
            autocompletion=complete_dataset,
        ),
    ] = None,
    name: NameFilter = "",
    label: LabelFilter = None,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """List the sessions of a service, newest first."""
    from svddtune.client.cli.lookup import find_dataset, short

    labels = parse_labels(label or ())
    with service.connect() as client:
        on = None if dataset is None else find_dataset(client, service, dataset)
        found = list(
            client.list_sessions(states=state or (), dataset=on, display_name=name, labels=labels)
        )
    if as_json:
        print_json({"sessions": [session.to_dict() for session in found]})
        return
    if not found:
        such = "such " if state or label or name or dataset else ""
        say(f"No {such}sessions on {service.server}.")
        return
    print_table(
        _COLUMNS,
        (
            (
                short(item),
                item.display_name,
                item.state.value,
                _stall(item),
                f"{item.counts.total}/{item.config.budget}",
                str(item.counts.outlier),
                item.create_time.strftime("%Y-%m-%d %H:%M") if item.create_time else "-",
                due(item),
                gamma_of(item.gamma or None, item.scaling, 3),
                item.expire_time.strftime("%Y-%m-%d %H:%M") if item.expire_time else "",
            )
            for item in found
        ),
    )


@on_service
def show(session: SessionName, *, service: Service, as_json: Json = False) -> None:
    """Show a session: its state, its labels, what is known so far, and what to do next."""
    from svddtune.client.cli.lookup import find_session

    with service.connect() as client:
        # (The list leaves out what only a single session tells.)
        found = client.get_session(find_session(client, service, session))
    if as_json:
        print_json(found.to_dict())
        return
    for title, text in _facts(found):
        tell(f"{title:<10}{text}")
    for line in _next(found, service):
        say(line)


def _stall(session: Session) -> str:
    """Return what a session that stands still waits for, unless its state says so."""
    if session.stall == session.state.value:
        return ""
    return _AWAITED.get(session.stall, session.stall.replace("_", " "))


def due(session: Session) -> str:
    """Return when a session is due, and whether that is over; empty without a due time."""
    if session.due_time is None:
        return ""
    return f"{session.due_time:%Y-%m-%d %H:%M}{' (overdue)' if session.overdue else ''}"


def _facts(session: Session) -> Iterator[tuple[str, str]]:
    counts = session.counts
    yield "session", session.name.removeprefix("sessions/")
    if session.display_name:
        yield "name", visible(session.display_name)
    yield "state", session.state.value
    rows = many(session.observation_count, "observation")
    yield "dataset", f"{session.dataset.removeprefix('datasets/')} ({rows})"
    answered = f"{counts.inlier} inlier, {counts.outlier} outlier, {counts.unsure} unsure"
    yield "answers", f"{counts.total} of {session.config.budget} labels ({answered})"
    if session.due_time:
        yield "due", due(session)
    if session.awaiting_votes:
        yield "", _waiting(session.awaiting_votes, "votes")
    if session.awaiting_adjudication:
        yield "", _waiting(session.awaiting_adjudication, "an adjudicator")
    if session.leased_count or session.waiting_count:
        queries = "1 query" if session.leased_count == 1 else f"{session.leased_count} queries"
        yield "", f"{queries} with labelers, {session.waiting_count} waiting"
    if session.taken_over:
        taken = session.taken_over
        yield "", f"{many(taken.taken, 'label')} from {taken.source}"
    own_choice = session.gamma and not session.config.needs_atlas
    if own_choice or (session.gamma and not session.live):
        gamma = gamma_of(session.gamma, session.scaling)
        yield "evidence", f"gamma {gamma}, alignment {figure(session.alignment, 3)}"
    if session.live:
        # (A strategy that chooses without the atlas has its advice all the same.)
        yield "atlas" if own_choice else "evidence", evidence(session.live)
        yield "", f"{many(session.live.outside_count, 'observation')} outside"
        if session.live.outlier_share:
            yield "", f"share of outliers {estimated(session.live.outlier_share)}"
        yield "advice", visible(session.live.advice)
    if session.detectors:
        yield "", compared(session.detectors)
    if session.failure_reason:
        yield "failure", f"{visible(session.failure_message)} [{session.failure_reason}]"
    if session.latest_result:
        yield "result", session.latest_result
    if session.labels:
        pairs = (f"{key}={visible(value)}" for key, value in session.labels.items())
        yield "labels", ", ".join(pairs)
    yield "settings", _settings(session)
    if session.create_time:
        yield "created", session.create_time.strftime("%Y-%m-%d %H:%M:%S %Z")
    if session.expire_time:
        yield "kept until", session.expire_time.strftime("%Y-%m-%d %H:%M:%S %Z")
    yield "etag", session.etag


def _waiting(observations: int, awaited: str) -> str:
    verb = "waits" if observations == 1 else "wait"
    return f"{many(observations, 'observation')} {verb} for {awaited}"


def _settings(session: Session) -> str:
    """Return the settings that are not the default's."""
    from svddtune.config import changed

    found = changed(session.config, session.observation_count)
    told = (f"{setting.name} {visible(_words(value))}" for setting, value in found)
    return ", ".join(told) or "all by default"


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _next(session: Session, service: Service) -> Iterator[str]:
    from svddtune.client.runs.waiting import label_command, reason
    from svddtune.client.types import SessionState

    id_ = session.name.removeprefix("sessions/")
    why = reason(session, "", service.command)
    if why:
        yield why
    elif session.state is SessionState.LABELING:
        yield f"Label with: {label_command(session, service.command)}"
    elif not session.state.ended:
        yield f"Follow it with: {service.command('watch', id_)}"
    elif session.state is SessionState.COMPLETED:
        yield f"Export the model with: {service.command('export', id_)}"
    elif session.counts.total:
        again = service.command("session", "clone", id_, "--labels")
        yield f"Begin anew with its labels: {again}"
