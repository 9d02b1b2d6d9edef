"""The memory watermark: new data are refused before Redis is full, so that labels still fit."""

import math
import time
from typing import Any

from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import QuotaExceeded
from svddtune.state.faults import store_call

# Seconds for which the figures of Redis are taken as they were.
_FRESH_S = 0.5
# When it makes sense to ask again: sessions are deleted, and jobs give memory back.
_RETRY_S = 30.0


class Watermark:
    """Compares the memory that Redis uses with a share of its ``maxmemory``."""

    def __init__(self, client: AsyncRedis, share: float = 0.0) -> None:
        """``share`` of ``maxmemory`` may be used before new data are refused; 0 for no limit."""
        self._client = client
        self._share = share
        self._used = self._most = 0
        self._read_at = -_FRESH_S

    async def check(self, further: int = 0) -> None:
        """Return where so many further bytes stay below the watermark.

        Raises QuotaExceeded (``STORE_NEARLY_FULL``), StoreUnavailable.
        """
        if not self._share:
            return
        if time.monotonic() - self._read_at >= _FRESH_S:
            async with store_call():
                found: list[dict[str, Any]] = [
                    await master.info("memory") for master in await self._client.masters()
                ]
            # (Of several servers the fullest counts: nobody knows yet where new data go.)
            self._used, self._most = max(
                ((int(one["used_memory"]), int(one.get("maxmemory", 0))) for one in found),
                key=lambda memory: memory[0] / (memory[1] or math.inf),
            )
            self._read_at = time.monotonic()
        limit = int(self._share * self._most)
        if not self._most or self._used + further <= limit:
            return
        needed = f", and {_mib(further)} more are needed" if further else ""
        raise QuotaExceeded(
            "STORE_NEARLY_FULL",
            f"The store uses {_mib(self._used)} of {_mib(self._most)}{needed}; no new data are "
            f"taken above {_mib(limit)}, so that labels still are. Delete sessions or datasets, or "
            f"let its operator raise maxmemory.",
            retry_s=_RETRY_S,
            limit=limit,
            used=self._used,
        )


def _mib(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"
