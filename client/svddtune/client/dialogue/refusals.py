"""The errors of a dialogue, the same for threads and for asyncio."""

from __future__ import annotations

from svddtune.client.dialogue.machine import Dialogue
from svddtune.client.errors import SvddtuneError, Unavailable, WrongState


def check_open(dialogue: Dialogue, error: SvddtuneError | None, closed: bool) -> None:
    """Raise the error that ended the dialogue, if any; CLIENT_CLOSED after it was closed."""
    if error is not None:
        raise error
    if closed:
        raise WrongState(f"The dialogue with {_who(dialogue)} is closed", reason="CLIENT_CLOSED")


def check_started(dialogue: Dialogue, started: bool) -> None:
    """Raise NOT_OPEN before the dialogue was opened."""
    if not started:
        raise WrongState(
            f"The dialogue with {_who(dialogue)} is not open: use it within 'async with'",
            reason="NOT_OPEN",
        )


def check_settled(dialogue: Dialogue) -> None:
    """Raise QUERY_UNANSWERED where the credit is 1 and taken: no query could come."""
    unsettled = dialogue.unsettled
    if dialogue.credit != 1 or not unsettled:
        return
    query = unsettled[0]
    raise WrongState(
        f"Query {query.number} (observation {query.observation_id!r}) is still open: answer, "
        f"skip or release it first, or open the dialogue with a larger credit",
        reason="QUERY_UNANSWERED",
        metadata={"query": str(query.number), "observation_id": query.observation_id},
    )


def nothing_to_ask(dialogue: Dialogue, within_s: float | None) -> Unavailable:
    """Return the error for a query that did not come in time."""
    return Unavailable(f"{_who(dialogue)} got no query within {within_s} s", reason="WAIT_TIMEOUT")


def no_welcome(address: str) -> Unavailable:
    """Return the error for a server that accepts a stream and sends nothing."""
    return Unavailable(
        f"{address} did not answer within the timeout. Check the address, or start a service "
        f"with: svddtune up",
        reason="DEADLINE_EXCEEDED",
    )


def no_ack(address: str, within_s: float) -> Unavailable:
    """Return the error for an Ack that did not come in time."""
    return Unavailable(
        f"No acknowledgement from {address} within {within_s:g} s. "
        "The answer is kept and is sent again after reconnecting",
        reason="ACK_TIMEOUT",
    )


def _who(dialogue: Dialogue) -> str:
    named = dialogue.served.named
    return dialogue.served.only or (f"{len(named)} sessions" if named else "any session")
