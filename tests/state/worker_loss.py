"""Lost workers and the ends of pauses, without waiting for either."""

from tests.state.scene import ScriptedWorker

from svddtune.state import keys
from svddtune.state.queue import Recovered


def silence_all(worker: ScriptedWorker) -> None:
    """Make all claims look a minute old."""
    for stream in worker.queue._streams("hi", "bulk"):
        for claim in worker.client.xpending_range(stream, keys.GROUP, "-", "+", 100):
            worker.client.xclaim(
                stream,
                keys.GROUP,
                claim["consumer"],
                0,
                [claim["message_id"]],
                idle=60_000,
                justid=True,
            )


def end_pauses(worker: ScriptedWorker) -> None:
    """End the pauses of failed jobs."""
    later = keys.prefix(0) + "q:later"
    for member in worker.client.zrange(later, 0, -1):
        worker.client.zadd(later, {member: 0})


def lose(worker: ScriptedWorker) -> Recovered:
    """Let all claims lapse and all pauses end."""
    silence_all(worker)
    found = worker.queue.recover()
    end_pauses(worker)
    worker.queue.recover()
    return found
