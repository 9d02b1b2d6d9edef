"""``svddtune session update``, ``reopen``, ``delete``, and what moves a session on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from svddtune.client.cli.confirm import check_can_ask, confirm
from svddtune.client.cli.names import Etag, SessionName, Yes, parse_labels
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.cli.session_options import METAVARS, parse_numbers
from svddtune.client.phrases import many
from svddtune.client.terminal.output import print_json, say
from svddtune.config import SETTINGS, InvalidConfig, SessionConfig, checked
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient
    from svddtune.client.types import Session


@on_service
def update(
    session: SessionName,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Number of labels that it may use.")
    ] = None,
    priority: Annotated[
        int | None,
        typer.Option(min=-100, max=100, help="Priority among the sessions, higher is first."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name for people; '' for none.")] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Labels of the session, in place of those that it has. Repeatable.",
        ),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            metavar=METAVARS["trusts"],
            help="How often the answers of a labeler are right, above 0.5, at most 1; in place of "
            "all that were given. Repeatable.",
        ),
    ] = None,
    no_trusts: Annotated[bool, typer.Option("--no-trusts", help="Take all of them away.")] = False,
    no_labels: Annotated[
        bool, typer.Option("--no-labels", help="Take all its labels away.")
    ] = False,
    retention_s: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS",
            help="Delete it so long after its end; 0 keeps it for good, 'service' as the service "
            "is set.",
        ),
    ] = None,
    etag: Etag = "",
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Change budget, priority, trusts, name, labels or retention: all that is given, or nothing.

    New trusts count from the next ranking of queries, and in the result.
    """
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.errors import UsageError

    if label and no_labels:
        raise UsageError("--label gives labels, and --no-labels takes them away: give one of them")
    if trust and no_trusts:
        raise UsageError("--trust gives trusts, and --no-trusts takes them away: give one of them")
    labels = parse_labels(label or ()) if label or no_labels else None
    trusts = _trusts(trust or ()) if trust or no_trusts else None
    kept_s = None if retention_s is None else _retention(retention_s)
    if all(one is None for one in (budget, priority, trusts, name, labels, kept_s)):
        raise UsageError(
            "Nothing to change: give --budget, --priority, --trust, --name, --label or "
            "--retention-s"
        )
    with service.connect() as client:
        found = client.update_session(
            find_session(client, service, session),
            name=name,
            labels=labels,
            budget=budget,
            priority=priority,
            trusts=trusts,
            retention_s=kept_s,
            etag=etag,
        )
    id_ = found.name.removeprefix("sessions/")
    hint = ""
    if found.state.value == "completed" and found.counts.total < found.config.budget:
        hint = f" To ask on, resume it with: {service.command('session', 'resume', id_)}"
    _tell(found, f"Session {id_} is changed.{hint}", as_json)


@on_service
def pause(session: SessionName, *, service: Service, as_json: Json = False) -> None:
    """Stop asking in a session; answers are still taken."""
    found = _move(service, session, lambda client, one: client.pause_session(one))
    _tell_next(found, "is paused. Resume it with", service, "session", "resume", as_json=as_json)


@on_service
def resume(session: SessionName, *, service: Service, as_json: Json = False) -> None:
    """Go on asking in a session that is paused, or has ended before its budget is spent."""
    from svddtune.client.runs.waiting import label_command

    found = _move(service, session, lambda client, one: client.resume_session(one))
    id_ = found.name.removeprefix("sessions/")
    _tell(
        found,
        f"Session {id_} goes on. Label with: {label_command(found, service.command)}",
        as_json,
    )


@on_service
def finish(session: SessionName, *, service: Service, as_json: Json = False) -> None:
    """Stop asking in a session, and compute its result from the labels so far."""
    found = _move(service, session, lambda client, one: client.finish_session(one))
    _tell_next(found, "asks no more. Wait for its result with", service, "watch", as_json=as_json)


@on_service
def cancel(session: SessionName, *, service: Service, as_json: Json = False) -> None:
    """End a session without a result; its labels stay."""
    found = _move(service, session, lambda client, one: client.cancel_session(one))
    _tell_next(found, "is cancelled. Delete it with", service, "session", "delete", as_json=as_json)


@on_service
def reopen(
    session: SessionName,
    observation: Annotated[
        str, typer.Argument(metavar="OBSERVATION", help="Id of the observation in the dataset.")
    ],
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Ask again about an observation; the votes on it stay in the log and count no more."""
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.json_values import jsonable

    with service.connect() as client:
        done = client.reopen_observation(find_session(client, service, session), observation)
    found = done.session
    if as_json:
        print_json(
            {
                "session": found.name,
                "observation_id": observation,
                "query": done.query,
                "retracted_votes": done.retracted_votes,
                "counts": jsonable(found.counts),
            }
        )
        return
    votes = f"{done.retracted_votes} vote{'' if done.retracted_votes == 1 else 's'}"
    say(
        f"{visible(observation)} is asked about again; {votes} retracted. "
        f"{found.counts.total} of {found.config.budget} labels remain."
    )


@on_service
def delete(
    session: SessionName,
    yes: Yes = False,
    etag: Etag = "",
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Delete a session with its labels and results, after a confirmation."""
    from svddtune.client.cli.lookup import find_session

    check_can_ask(yes=yes, as_json=as_json)
    with service.connect() as client:
        found = find_session(client, service, session)
        id_ = found.name.removeprefix("sessions/")
        if not yes:
            named = f" ({visible(found.display_name)})" if found.display_name else ""
            labels = many(found.counts.total, "label")
            say(f"Session {id_}{named} is {found.state.value} with {labels}.")
        confirm("Delete it with its labels and results?", yes=yes)
        client.delete_session(found, etag=etag)
    if as_json:
        print_json({"deleted": found.name})
        return
    say(f"Session {id_} is deleted.")


def _trusts(texts: Iterable[str]) -> dict[str, float]:
    from svddtune.client.errors import UsageError

    row = SETTINGS["trusts"]
    found = parse_numbers(texts, row)
    try:
        checked(SessionConfig(trusts=found))
    except InvalidConfig as error:
        raise UsageError(error.violations[0].about(row.option)) from None
    return found


def _retention(text: str) -> float | Literal["service"]:
    from svddtune.client.errors import UsageError

    if text == "service":
        return "service"
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"--retention-s {text!r} must be a number of seconds, or 'service'"
        ) from None


def _move(service: Service, name: str, move: Callable[[TuningClient, Session], Session]) -> Session:
    from svddtune.client.cli.lookup import find_session

    with service.connect() as client:
        return move(client, find_session(client, service, name))


def _tell_next(
    session: Session, what_is: str, service: Service, *command: str, as_json: bool
) -> None:
    """Tell what became of a session, and the command that comes next, which takes its id."""
    id_ = session.name.removeprefix("sessions/")
    _tell(session, f"Session {id_} {what_is}: {service.command(*command, id_)}", as_json)


def _tell(session: Session, sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(session.to_dict())
    else:
        say(sentence)
