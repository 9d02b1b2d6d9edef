"""Cost of making scripts repeatable: server time, log size and memory per answer.

    python benchmarks/bench_repeats.py [--rounds 30] [--answers 60]

Plays the same session (answer, rank, lease; no numerics) under three rules in turn: no reply is
kept (a call made again acts twice), replies are kept where a script could act twice (the rule of
the product), all replies are kept. Time is what the server counts for scripts. The ratio is the
median over rounds of a rule's time over that of the first rule in the same round.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.state.scene import Scene

from svddtune.config import SessionConfig
from svddtune.stack import EmbeddedServer
from svddtune.state import scripts
from svddtune.state.connect import Redis, connect

# Which scripts keep no reply.
RULES = {
    "none kept": set(scripts.SCRIPTS),
    "where needed": {name for name, script in scripts.SCRIPTS.items() if script.repeatable},
    "all kept": set[str](),
}


@dataclass(frozen=True)
class Cost:
    """Per answer."""

    script_us: float
    log_bytes: float
    kept_bytes: float


async def play(url: str, answers: int) -> None:
    """One labeler answers until the budget is spent."""
    scene, rows = Scene(url), answers + 10
    session_id = await scene.sessions.create(
        await scene.upload(n=rows),
        SessionConfig(budget=answers, strategy="lama"),
        observation_count=rows,
    )
    scene.worker.work_off()
    for _ in range(answers):
        (lease,) = await scene.lease(session_id, waits=True)
        await scene.answer(session_id, lease, want=1)
        scene.worker.work_off()
    await scene.close()


def measure(client: Redis, url: str, answers: int) -> Cost:
    """Play a session on the emptied server."""
    client.flushall()
    client.config_resetstat()
    before = client.info("persistence")["aof_current_size"]
    asyncio.run(play(url, answers))
    kept = sum(client.memory_usage(key) for key in client.scan_iter(match="*:call:*"))
    return Cost(
        client.info("commandstats")["cmdstat_evalsha"]["usec"] / answers,
        (client.info("persistence")["aof_current_size"] - before) / answers,
        kept / answers,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--answers", type=int, default=60)
    given = parser.parse_args()
    costs: dict[str, list[Cost]] = {name: [] for name in RULES}
    with (
        tempfile.TemporaryDirectory() as directory,
        EmbeddedServer(Path(directory), fsync="everysec") as server,
        connect(server.url) as client,
    ):
        for _ in range(given.rounds):
            for name, rule in RULES.items():
                for one, script in scripts.SCRIPTS.items():
                    scripts.SCRIPTS[one] = replace(script, repeatable=one in rule)
                costs[name].append(measure(client, server.url, given.answers))
    base = costs["none kept"]
    for name, found in costs.items():
        ratio = statistics.median(
            one.script_us / other.script_us for one, other in zip(found, base, strict=True)
        )
        print(
            f"{name:13} scripts {statistics.median(one.script_us for one in found):6.0f} us "
            f"({ratio:.2f} x), log {found[0].log_bytes:6.0f} B, kept for a minute "
            f"{found[0].kept_bytes:4.0f} B, per answer"
        )


if __name__ == "__main__":
    main()
