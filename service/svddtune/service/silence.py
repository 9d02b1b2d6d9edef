"""Time limits for clients that open a stream and send nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from svddtune.state.errors import StateError

Request = TypeVar("Request")


class Silent(StateError):
    """The client did not send in time. Reasons: ``HELLO_TIMEOUT``, ``UPLOAD_TIMEOUT``."""

    def __init__(self, reason: str, awaited: str, waited_s: float) -> None:
        super().__init__(
            reason,
            f"No {awaited} arrived within {waited_s:g} s; start again.",
            waited_s=f"{waited_s:g}",
        )


async def prompt(
    requests: AsyncIterator[Request], within_s: float, *, reason: str, awaited: str
) -> AsyncIterator[Request]:
    """The requests of a stream; raises Silent if the next one takes longer than ``within_s``."""
    while True:
        try:
            async with asyncio.timeout(within_s):
                request = await anext(requests)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Silent(reason, awaited, within_s) from None
        yield request
