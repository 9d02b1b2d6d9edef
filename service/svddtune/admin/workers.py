"""``svddtune workers``: who computes, and what."""

from dataclasses import asdict

import typer

from svddtune.admin.store import DEFAULT_REDIS, Partitions, RedisUrl, store
from svddtune.admin.tables import age, mebibytes, table
from svddtune.client.cli.options import Json
from svddtune.client.terminal.output import print_json, say
from svddtune.state import inspection
from svddtune.state.inspection import WorkerEntry

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def workers(
    redis: RedisUrl = DEFAULT_REDIS,
    partitions: Partitions = 1,
    as_json: Json = False,
) -> None:
    """Show the workers, and what each of them does."""
    with store(redis) as client:
        now = inspection.now_ms(client)
        found = inspection.workers(client, partitions)
    if as_json:
        print_json({"workers": [worker_to_dict(one) for one in found]})
        return
    if not found:
        say("No worker is there. Start one with: svddtune worker --redis URL")
        return
    header = ("worker", "host", "pid", "version", "up", "memory", "takes", "works on")
    table(header, (_row(one, now) for one in found))


def worker_to_dict(one: WorkerEntry) -> dict[str, object]:
    """A worker as JSON has it."""
    working = [
        {
            "kind": job.kind,
            "lane": job.lane,
            "session": job.session_id,
            "dataset": job.dataset_id,
            "since_ms": job.since_ms,
        }
        for job in one.jobs
    ]
    return asdict(one) | {"jobs": working}


def _row(one: WorkerEntry, now: int) -> tuple[str, ...]:
    up = "gone" if not one.alive else age(one.started_ms and now - one.started_ms)
    busy = ", ".join(f"{job.kind} for {age(now - (job.since_ms or now))}" for job in one.jobs)
    return (
        one.name[:8],
        one.host[:16] or "-",
        str(one.pid or "-"),
        one.version or "-",
        up,
        mebibytes(one.memory_bytes),
        "-" if not one.alive else "urgent" if one.hi_only else "all",
        busy or "-",
    )
