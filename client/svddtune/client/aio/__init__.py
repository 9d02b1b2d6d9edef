"""The client for asyncio.

::

    async with AsyncTuningClient("127.0.0.1:50051") as client:
        session = await client.create_session(await client.upload_dataset(X), budget=50)
        async with client.tuning(session) as tuning:
            async for query in tuning.queries():
                await tuning.answer(query, "inlier")
        await client.wait_until_completed(session)
"""

from __future__ import annotations

from svddtune.client.aio.client import AsyncTuningClient
from svddtune.client.aio.tuning import AsyncTuning

__all__ = ["AsyncTuning", "AsyncTuningClient"]
