"""``svddtune oracle replay``: labels a session by tickets."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli import ticket_options
from svddtune.client.cli.file_options import text_format
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.cli.tickets import document, listed, session_preview
from svddtune.client.terminal.output import print_json, say, stderr, stdout, tell

if TYPE_CHECKING:
    from svddtune.client.tickets.replay import Sent
    from svddtune.client.types import Session


class When(StrEnum):
    """Which verdicts a replay gives."""

    asked = "asked"
    all = "all"


@on_service
@ticket_options.takes_ticket_options
def replay(
    tickets: ticket_options.Tickets,
    mapping: ticket_options.Mapping,
    session: ticket_options.SessionOption,
    when: Annotated[
        When,
        typer.Option(
            help="asked: answer the session's queries, and skip those that no ticket answers; "
            "all: give all known verdicts at once, as far as the budget allows."
        ),
    ] = When.asked,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep reading what is added to TICKETS, until Ctrl-C.")
    ] = False,
    interval: Annotated[
        str, typer.Option(metavar="TIME", help="Time between two looks of --follow at the file.")
    ] = "1s",
    credit: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of queries to hold at once.")
    ] = 1,
    labeler: Annotated[
        str, typer.Option(help="Name of the labeler who gives the votes. Default: MAPPING-replay.")
    ] = "",
    *,
    options: ticket_options.TicketOptions,
    examples: ticket_options.Examples = 20,
    service: Service,
    as_json: Json = False,
) -> None:
    """Give a session the verdicts of TICKETS; a dry run is shown first.

    Run the same command again to continue: verdicts given earlier are not given twice, a changed
    verdict is corrected, and a verdict that is gone is retracted.
    """
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.files.follow import Follower
    from svddtune.client.tickets.replay import Replay
    from svddtune.client.tickets.serving import serve

    interval_s = ticket_options.interval(interval)
    form = text_format(options.encoding)
    with contextlib.ExitStack() as stack:
        follower = stack.enter_context(Follower(tickets, say, form)) if follow else None
        client = stack.enter_context(service.connect())
        name = find_session(client, service, session).name
        oracle = ticket_options.make_oracle(
            None if follower else tickets,
            mapping,
            options,
            lambda: listed(client, name),
        )
        if follower:
            oracle.add(follower.poll())
        who = ticket_options.labeler_name(labeler, oracle.mapping.name)
        preview = session_preview(oracle, client, name, who)
        report = oracle.report(examples=examples)
        if not as_json:
            from svddtune.client.cli.ticket_report import show_report

            show_report(stdout(), report, preview)
        _check_active(client.get_session(name), service)
        tuning = stack.enter_context(
            client.tuning(
                name,
                labeler=who,
                kind="automated",
                provenance=oracle.provenance,
                credit=credit if when is When.asked else 0,
            )
        )
        run = Replay(oracle, tuning, name, client.labels(name))
        stop = stack.enter_context(_stopped_by_interrupt()) if follower else None
        tell = stack.enter_context(_progress())
        ended = serve(
            run,
            oracle,
            tuning,
            unasked=when is When.all,
            follower=follower,
            interval_s=interval_s,
            stop=stop,
            on_change=tell,
        )
    _show_end(run.sent, document(report, preview), ended, as_json)


def _check_active(session: Session, service: Service) -> None:
    from svddtune.client.errors import WrongState

    if session.state.ended or session.state.value == "estimating":
        raise WrongState(
            f"{session.name} is {session.state.value} and takes no labels; "
            f"resume it, or choose another session from those that this lists: "
            f"{service.command('session', 'list')}",
            metadata={"session": session.name, "state": session.state.value},
        )


@contextlib.contextmanager
def _stopped_by_interrupt() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets, so that sent labels are still acknowledged.

    The second one interrupts as usual.
    """
    stop = threading.Event()

    def interrupted(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, interrupted) or signal.default_int_handler
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Sent], None]]:
    """Yield a function that shows a replay's progress: one changing line, or a line per change."""
    from rich.text import Text

    from svddtune.client.cli.ticket_report import sent_line

    console = stderr()
    last = ""
    with console.status("", spinner="dots") as status:

        def tell(sent: Sent) -> None:
            nonlocal last
            line = sent_line(sent)
            if console.is_terminal:
                status.update(Text(line))
            elif line != last:
                say(line)
            last = line

        yield tell


def _show_end(sent: Sent, run: dict[str, Any], ended: str, as_json: bool) -> None:
    if as_json:
        print_json({**run, "sent": sent.to_dict(), "ended": ended})
        return
    from svddtune.client.cli.ticket_report import refusal_lines, sent_line

    tell(f"{sent_line(sent)} ({ended.lower().replace('_', ' ')})")
    for line in refusal_lines(sent):
        say(line)
