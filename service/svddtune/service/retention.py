"""Removes what was kept for its whole time: sessions that have ended, and unused datasets."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import StoreUnavailable
from svddtune.state.retention import Removed, Retention, remove_expired

log = logging.getLogger(__name__)

# Pause between two looks. Several services may look; each thing is removed once.
EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Remover:
    """Looks at all partitions every few seconds."""

    client: AsyncRedis
    partitions: int
    retention: Retention
    # Removes rows from the dataset store by their folder.
    remove_rows: Callable[[str], Awaitable[None]]
    every_s: float = EVERY_S

    async def run(self) -> None:
        """Work until cancelled. Sessions may say themselves for how long they are kept."""
        while True:
            try:
                await self._look()
            except StoreUnavailable as error:
                log.warning("retention: %s", error.message)
            await asyncio.sleep(self.every_s * random.uniform(0.75, 1.25))

    async def _look(self) -> None:
        for partition in range(self.partitions):
            more = True
            while more:
                removed = await remove_expired(self.client, partition, self.retention)
                await self._report(removed)
                more = removed.full

    async def _report(self, removed: Removed) -> None:
        for session in removed.sessions:
            log.info(
                "session removed: its retention is over",
                extra={
                    "session": session.session_id,
                    "project": session.project,
                    "by": "retention_seconds" if session.own else "session_retention_s",
                },
            )
        for dataset in removed.datasets:
            log.info(
                "unused dataset removed: its retention is over",
                extra={
                    "dataset": dataset.dataset_id,
                    "project": dataset.project,
                    "by": "dataset_retention_s",
                },
            )
            if dataset.folder:
                await self.remove_rows(dataset.folder)
