"""Whether a service should be sent traffic, and what it lacks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from svddtune.state import keys
from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import StoreUnavailable
from svddtune.state.pulse import feel_pulse

# Pause between two looks at the store.
LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that a service needs and does not have."""

    # Stable: STARTING, STOPPING, STORE_UNAVAILABLE, STORE_FULL, LAYOUT_UNKNOWN or NO_WORKERS.
    reason: str
    # A sentence for people, with what to do.
    message: str


_STARTING = Lack("STARTING", "The service has not asked its store yet.")
_STOPPING = Lack("STOPPING", "The service is stopping.")
_AWAY = Lack("STORE_UNAVAILABLE", "The service has no connection to its store.")
_NO_WORKERS = Lack(
    "NO_WORKERS",
    "No worker has given a sign of life for 15 s, so nobody gets further queries. Start one: "
    "svddtune worker --redis URL.",
)


class Readiness:
    """Looks at the store every second. Labels given to a service that is not ready still count."""

    def __init__(
        self,
        client: AsyncRedis,
        *,
        is_connected: Callable[[], bool],
        is_stopping: Callable[[], bool],
        needs_workers: bool,
    ) -> None:
        self._client = client
        self._is_connected = is_connected
        self._is_stopping = is_stopping
        self._needs_workers = needs_workers
        self._found: tuple[Lack, ...] = (_STARTING,)

    def lacks(self) -> tuple[Lack, ...]:
        """What the service lacks; nothing where it is ready. About a second old at most."""
        if self._is_stopping():
            return (_STOPPING,)
        if not self._is_connected():
            return (_AWAY,)
        return self._found

    async def run(self, report: Callable[[bool], None]) -> None:
        """Look until cancelled, and report after each look whether the service is ready."""
        while True:
            # (While there is no connection, another part of the service tries to get one.)
            self._found = await self._look() if self._is_connected() else (_AWAY,)
            report(not self.lacks())
            await asyncio.sleep(LOOK_EVERY_S)

    async def _look(self) -> tuple[Lack, ...]:
        try:
            pulse = await feel_pulse(self._client)
        except StoreUnavailable as error:
            return (Lack(error.reason, error.message),)
        lacks: list[Lack] = []
        known = range(keys.OLDEST_LAYOUT, keys.LAYOUT_VERSION + 1)
        if pulse.layout is not None and pulse.layout not in known:
            lacks.append(
                Lack(
                    "LAYOUT_UNKNOWN",
                    f"The data in the store have layout {pulse.layout}, and this service reads "
                    f"layouts {known[0]} to {known[-1]}: another version of it has begun to use "
                    f"them.",
                )
            )
        if self._needs_workers and not pulse.attended:
            lacks.append(_NO_WORKERS)
        return tuple(lacks)
