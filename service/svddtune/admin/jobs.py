"""``svddtune jobs``: what is queued, what runs, and what was given up."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, store
from svddtune.admin.tables import age, short, table
from svddtune.client.cli.options import Json
from svddtune.client.errors import NotFound, UsageError
from svddtune.client.terminal.output import print_json, say, tell
from svddtune.state import dead_letters, inspection, keys
from svddtune.state.connect import Redis
from svddtune.state.dead_letters import DeadLetter
from svddtune.state.inspection import JobEntry, JobState
from svddtune.state.session import SessionId

app = typer.Typer(
    help="Show the jobs of the workers; try dead letters again, or drop them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Rows of a table; --json has all.
_MOST_ROWS = 50

_Ids = Annotated[
    list[str] | None, typer.Argument(metavar="ID...", help="Dead letters, by their ids.")
]
_All = Annotated[bool, typer.Option("--all", help="All dead letters.")]


@app.command("list")
def list_jobs(
    state: Annotated[
        list[JobState] | None, typer.Option(help="Only jobs in this state. Repeatable.")
    ] = None,
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    as_json: Json = False,
) -> None:
    """Show the jobs that run, wait, or were given up (dead)."""
    with store(redis) as client:
        now = inspection.now_ms(client)
        found = [
            one for one in inspection.jobs(client, partitions) if not state or one.state in state
        ]
    if as_json:
        print_json({"jobs": [asdict(one) | {"state": one.state.value} for one in found]})
        return
    if not found:
        say("There are no such jobs." if state else "There are no jobs.")
        return
    header = ("state", "kind", "lane", "session", "for", "id", "worker or reason")
    table(header, (_row(one, now) for one in found[:_MOST_ROWS]))
    if len(found) > _MOST_ROWS:
        say(f"{len(found) - _MOST_ROWS} more; --json shows all.")


@app.command()
def retry(
    ids: _Ids = None,
    all_: _All = False,
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    as_json: Json = False,
) -> None:
    """Try dead letters again: the sessions that failed with them go on where they were."""
    with store(redis) as client:
        done = _each(client, partitions, ids or (), every=all_, act=dead_letters.retry)
    if as_json:
        print_json({"retried": [{"id": id_, "sessions": sids} for id_, sids in done]})
        return
    for id_, sids in done:
        if sids:
            tell(f"{id_}: {', '.join(sids)} {'goes' if len(sids) == 1 else 'go'} on")
        else:
            tell(f"{id_}: no session waits for it")
    _say_none(done)


@app.command()
def drop(
    ids: _Ids = None,
    all_: _All = False,
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    as_json: Json = False,
) -> None:
    """Forget dead letters. The sessions that failed with them stay failed."""
    with store(redis) as client:
        done = _each(
            client,
            partitions,
            ids or (),
            every=all_,
            act=lambda *at: dead_letters.drop(*at) or None,
        )
    if as_json:
        print_json({"dropped": [id_ for id_, _ in done]})
        return
    for id_, _ in done:
        tell(f"{id_}: dropped")
    _say_none(done)


@app.command()
def requeue(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The ID, or sessions/ID.")],
    redis: RedisUrl = DEFAULT_REDIS,
    as_json: Json = False,
) -> None:
    """Make the jobs anew that a session waits for; svddtune doctor says where they are lost."""
    session_id = session.removeprefix("sessions/")
    if not keys.is_session_id(session_id):
        raise UsageError(f"{session!r} is not the ID of a session.")
    with store(redis) as client:
        queued = dead_letters.requeue(client, SessionId(session_id))
    if as_json:
        print_json({"session": session_id, "queued": queued})
    elif queued:
        tell(f"What {session_id} waits for is queued")
    else:
        say(f"{session_id} lacks no job; nothing was changed.")


def _drop(client: Redis, letter: DeadLetter) -> bool | None:
    return dead_letters.drop(client, letter) or None


def _each(
    client: Redis,
    partitions: int,
    ids: Sequence[str],
    *,
    every: bool,
    act: Callable[[Redis, DeadLetter], Any],
) -> list[tuple[str, Any]]:
    """Do one thing to each dead letter; their ids with what came of it.

    One that another operator has taken meanwhile is an error only where its id was given.
    """
    if bool(ids) == every:
        raise UsageError("Give the ids of dead letters, or --all; svddtune jobs list shows them.")
    try:
        letters = {one: DeadLetter.of(one) for one in ids}
    except ValueError as error:
        raise UsageError(f"This is {error}; svddtune jobs list shows the ids.") from error
    if every:
        found = inspection.jobs(client, partitions)
        letters = {one.id: DeadLetter.of(one.id) for one in found if one.state is JobState.DEAD}
    done = []
    for id_, letter in letters.items():
        outcome = act(client, letter)
        if outcome is not None:
            done.append((id_, outcome))
        elif not every:
            raise NotFound(
                f"There is no dead letter {id_}; svddtune jobs list shows those that there are.",
                reason="JOB_NOT_FOUND",
                metadata={"id": id_},
            )
    return done


def _say_none(done: Sequence[object]) -> None:
    if not done:
        say("There are no dead letters.")


def _row(one: JobEntry, now: int) -> tuple[str, ...]:
    dead = one.state is JobState.DEAD
    last = f"{one.reason}: {one.message}" if dead else one.worker[:8]
    if not dead and (one.errors or one.lost):
        last = f"{last} errors {one.errors}, lost {one.lost}".strip()
    return (
        one.state.value,
        one.kind,
        one.lane,
        short(one.session_id),
        age(one.since_ms and now - one.since_ms),
        one.id if dead else "-",
        last or "-",
    )
