"""What an operator does about jobs that were given up, the dead letters, or that got lost."""

import re
from dataclasses import dataclass
from typing import Self

from svddtune.state import keys
from svddtune.state.calls import Scripts
from svddtune.state.connect import Redis
from svddtune.state.faults import redis_faults
from svddtune.state.session import SessionId

_ID = re.compile(r"p(\d{2,4})-(\d+-\d+)")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Where a dead letter is: ``inspection.jobs`` has its id."""

    partition: int
    entry: str

    @classmethod
    def of(cls, text: str) -> Self:
        """From its id. Raises ValueError where it cannot be one."""
        match = _ID.fullmatch(text)
        if match is None:
            raise ValueError(f"not the id of a dead letter: {text!r}")
        return cls(int(match[1]), match[2])


def retry(client: Redis, letter: DeadLetter) -> list[str] | None:
    """Let the sessions that failed with the job go on where they were; atomic.

    Returns their ids: none where the job's sessions ended otherwise, or were resumed or deleted
    meanwhile; None where there is no such dead letter. Raises StoreUnavailable.
    """
    reply = Scripts(client)("retry_job", keys.prefix(letter.partition), entry=letter.entry)
    found: list[str] | None = reply.get("sessions")
    return found


def drop(client: Redis, letter: DeadLetter) -> bool:
    """Forget a dead letter; its sessions stay FAILED. False where there is none.

    Raises StoreUnavailable.
    """
    with redis_faults():
        return bool(client.xdel(keys.prefix(letter.partition) + "q:dead", letter.entry))


def requeue(client: Redis, session_id: SessionId) -> bool:
    """Make the jobs anew that a session waits for; atomic, idempotent.

    False where they are there, or where it waits for none.
    Raises NotFound (``SESSION_NOT_FOUND``), StoreUnavailable.
    """
    prefix = keys.prefix(keys.partition_of_session(session_id))
    return bool(Scripts(client)("requeue_session", prefix, session=session_id)["queued"])
