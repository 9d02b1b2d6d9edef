"""ModelStore: uploaded models, each kept for a limited time under a name of its content."""

import asyncio
import hashlib

from svddtune.state import keys
from svddtune.state.calls import AsyncScripts, refusal
from svddtune.state.connect import AsyncRedis
from svddtune.state.errors import StateError
from svddtune.state.faults import store_call
from svddtune.state.memory import Watermark
from svddtune.state.projects import scoped
from svddtune.state.session import ModelId


def id_of_model(content: bytes) -> ModelId:
    """The id of a model file."""
    return ModelId(hashlib.sha256(b"svddtune model 1" + content).hexdigest()[:32])


class ModelStore:
    """Model files by their ids. All methods raise ``StoreUnavailable`` where Redis is away."""

    def __init__(
        self, client: AsyncRedis, *, partitions: int = 1, watermark: Watermark | None = None
    ) -> None:
        """Above the ``watermark``, no model is kept."""
        self._watermark = watermark or Watermark(client)
        self._client = client
        self._call = AsyncScripts(client)
        self._partitions = partitions

    async def put(self, model_id: ModelId, content: bytes, ttl_s: float) -> int:
        """Keep a model, whose id is that of its content, for ``ttl_s`` seconds or longer.

        Atomic; a repeat extends its time. Returns when it expires, in milliseconds on Redis's
        clock. Raises QuotaExceeded (``STORE_NEARLY_FULL``).
        """
        await self._watermark.check(len(content))
        step = keys.CHUNK_BYTES
        reply = await self._call(
            "put_model",
            self._prefix(model_id),
            key=_stored(model_id),
            pieces=[content[start : start + step] for start in range(0, len(content), step)],
            ttl_ms=round(ttl_s * 1000),
        )
        return int(reply["expires_ms"])

    async def expires_ms(self, model_id: ModelId) -> int:
        """When a model expires, on Redis's clock. Raises NotFound (``MODEL_NOT_FOUND``)."""
        async with store_call():
            moment: int = await self._client.pexpiretime(self._key(model_id))
        if moment < 0:
            raise _not_found(model_id)
        return moment

    async def content(self, model_id: ModelId) -> bytes:
        """A model file. Raises NotFound (``MODEL_NOT_FOUND``)."""
        pieces: list[bytes] = []
        while True:
            async with store_call():
                piece = await self._client.lindex(self._key(model_id), len(pieces))
            if piece is None:
                break
            pieces.append(piece)
        content = b"".join(pieces)
        # It may have expired meanwhile.
        if await asyncio.to_thread(id_of_model, content) != model_id:
            raise _not_found(model_id)
        return content

    async def delete(self, model_id: ModelId) -> None:
        """Remove a model. Raises NotFound (``MODEL_NOT_FOUND``)."""
        await self._call(
            "delete_model", self._prefix(model_id), model=model_id, key=_stored(model_id)
        )

    def _prefix(self, model_id: ModelId) -> str:
        return keys.prefix(keys.partition_of_model(_stored(model_id), self._partitions))

    def _key(self, model_id: ModelId) -> str:
        stored = _stored(model_id)
        return keys.model(keys.partition_of_model(stored, self._partitions), stored)


def _stored(model_id: ModelId) -> ModelId:
    """What stands for the id in the project: a model is there for those who uploaded it."""
    scope = scoped(model_id)
    return model_id if scope is None else ModelId(scope.hex)


def _not_found(model_id: ModelId) -> StateError:
    return refusal("MODEL_NOT_FOUND", {}, {"model": model_id})
