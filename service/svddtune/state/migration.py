"""A service's part in the change of layouts: its sign, the raise, and what follows from it.

Sessions and datasets of the earlier layout are brought to the new one while everything runs. Each
step has one effect however often it runs, so a service may be killed at any point, and several may
do this at once.
"""

import json
import logging
from collections.abc import Mapping
from uuid import uuid4

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call
from svddtune.state.layout import SIGN_TTL_S, raise_layout_async
from svddtune.state.recount import recount_partition_async

log = logging.getLogger(__name__)


class LayoutKeeper:
    """Says that this service is there, and raises and follows the layout."""

    def __init__(
        self, client: AsyncRedis, description: Mapping[str, object], *, partitions: int = 1
    ) -> None:
        self._client = client
        self._call = AsyncScripts(client)
        self._sign = json.dumps({**description, "layout": keys.LAYOUT_VERSION})
        self._prefixes = [keys.prefix(partition) for partition in range(partitions)]
        self.name = uuid4().hex[:16]

    async def keep(self) -> None:
        """Sign, then do what is due. Raises StoreUnavailable."""
        await self._call(
            "sign_service",
            keys.prefix(0),
            name=self.name,
            sign=self._sign,
            ttl_s=SIGN_TTL_S,
        )
        state = await raise_layout_async(self._call)
        if state.in_force > state.before:
            log.info("raised the layout from %d to %d", state.before, state.in_force)
        # (A later version may have raised it further: that is for its processes to follow.)
        if state.in_force == keys.LAYOUT_VERSION:
            for prefix in self._prefixes:
                await self._follow(prefix, state.in_force)

    async def sign_out(self) -> None:
        """Leave. Raises StoreUnavailable."""
        async with store_call():
            await self._client.delete(f"{keys.prefix(0)}service:{self.name}")

    async def _follow(self, prefix: str, layout: int) -> None:
        reply = await self._call("follow_layout", prefix, layout=layout, migrated=False)
        if reply["migrated"]:
            return
        # What is made from now on has this layout, so these are all that have not.
        async with store_call():
            sessions = await self._client.zrange(f"{prefix}sessions", 0, -1)
            datasets = await self._client.zrange(f"{prefix}datasets", 0, -1)
        for one in sessions:
            await self._call("compact_session", prefix, session=one.decode())
        for one in datasets:
            await self._call("index_dataset", prefix, dataset=one.decode())
        # Processes of the earlier layout did not count what projects have, and are gone.
        await recount_partition_async(self._client, prefix)
        await self._call("follow_layout", prefix, layout=layout, migrated=True)
        if sessions:
            log.info("%d sessions have reached layout %d", len(sessions), layout)
