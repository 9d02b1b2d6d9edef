"""Fitted models to judge rows by: read and checked once, then kept up to a number of bytes."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

from svddtune.fitted import FittedModel, ModelDamaged, parts_of_messages, read_file, write_file
from svddtune.service import names
from svddtune.service.cache import Lru
from svddtune.service.status import outlasting, unbroken
from svddtune.state.errors import Damaged, InvalidInput
from svddtune.state.models import ModelStore, id_of_model
from svddtune.state.session import DatasetId, ModelId, SessionId
from svddtune.state.store import SessionStore
from svddtune.v1 import tuning_pb2

P = ParamSpec("P")
T = TypeVar("T")

# A model takes more than its arrays: walking its trees needs about as much again.
_OVERHEAD = 2


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model with its resource name, which has the revision of a result."""

    name: str
    fitted: FittedModel
    # Bytes of its arrays.
    size: int
    # When it expires, in milliseconds on Redis's clock; None for the model of a result.
    expires_ms: int | None


@dataclass(frozen=True, slots=True)
class _Read:
    """A model that was read, and the bytes of its arrays."""

    fitted: FittedModel
    size: int


class Computing:
    """The thread that computes, so that the event loop goes on meanwhile.

    It is one thread, because further ones would take turns with the event loop: run more service
    processes instead. Its tasks are short, so that large requests do not hold up small ones.
    """

    def __init__(self) -> None:
        # More threads of numpy's BLAS would use three times the processor time for small products.
        threadpool_limits(1, user_api="blas")
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="computing")

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Await what ``work`` returns in the thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(work, *args, **kwargs))

    def stop(self) -> None:
        """Begin no further task."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Models:
    """Models of results and uploaded models, by name."""

    def __init__(
        self,
        sessions: SessionStore,
        uploaded: ModelStore,
        computing: Computing,
        *,
        most_bytes: int,
        cache_bytes: int,
    ) -> None:
        """``most_bytes`` limits an uploaded file, ``cache_bytes`` the memory for kept models."""
        self._sessions = sessions
        self._uploaded = uploaded
        self._computing = computing
        self.most_bytes = most_bytes
        self._kept: Lru[str, _Read] = Lru(cache_bytes, lambda read: _OVERHEAD * read.size)
        # Models that are being read, for all calls that need them.
        self._coming: dict[str, asyncio.Future[_Read]] = {}

    async def get(self, name: str, field: str) -> NamedModel:
        """The model of a name; ``field`` is that of the request which names it.

        What is deleted or expired is not found, even if its model is still kept here. Raises
        InvalidInput (``INVALID_NAME``), NotFound (``SESSION_NOT_FOUND``, ``RESULT_NOT_FOUND``,
        ``MODEL_NOT_FOUND``), Damaged (``MODEL_DAMAGED``).
        """
        if names.is_model_name(name):
            model_id = names.model_id(name, field)
            expires_ms = await unbroken(self._uploaded.expires_ms(model_id))
            read = await self._once(name, partial(self._read_uploaded, model_id))
            return NamedModel(name, read.fitted, read.size, expires_ms)
        session_id, wanted = names.result_id(name, field)
        revision = await unbroken(self._sessions.revision(session_id, wanted))
        name = names.result_name(session_id, revision)
        read = await self._once(name, partial(self._read_result, session_id, revision))
        return NamedModel(name, read.fitted, read.size, None)

    async def upload(self, content: bytes, ttl_s: float) -> NamedModel:
        """Check a model file and keep it in the store.

        Raises InvalidInput (``MODEL_CORRUPT``, ``MODEL_VERSION_UNSUPPORTED``).
        """
        try:
            read = await self._computing(_of_file, content, self.most_bytes)
        except ModelDamaged as error:
            if error.reason == "MODEL_VERSION_UNSUPPORTED":
                raise InvalidInput("MODEL_VERSION_UNSUPPORTED", error.message) from None
            raise InvalidInput("MODEL_CORRUPT", error.message) from None
        model_id = await self._computing(id_of_model, content)
        expires_ms = await unbroken(self._uploaded.put(model_id, content, ttl_s))
        name = names.model_name(model_id)
        self._kept.put(name, read)
        return NamedModel(name, read.fitted, read.size, expires_ms)

    async def file(self, name: str, field: str) -> bytes:
        """The file of a model, as the Python client writes it. Raises what ``get`` raises."""
        model = await self.get(name, field)
        return await self._computing(_to_file, model)

    async def dataset_of(self, name: str) -> DatasetId:
        """The dataset of the session whose result has this name.

        Raises NotFound (``SESSION_NOT_FOUND``).
        """
        session_id, _ = names.result_id(name)
        return (await unbroken(self._sessions.get(session_id))).dataset_id

    async def delete(self, name: str) -> None:
        """Remove an uploaded model.

        Raises InvalidInput (``INVALID_NAME``), NotFound (``MODEL_NOT_FOUND``).
        """
        await unbroken(self._uploaded.delete(names.model_id(name)))
        self._kept.drop(name)

    async def _once(self, name: str, read: Callable[[], Awaitable[_Read]]) -> _Read:
        kept = self._kept.get(name)
        if kept is not None:
            return kept
        coming = self._coming.get(name)
        if coming is None:
            coming = self._coming[name] = asyncio.ensure_future(self._reading(name, read))
        return await outlasting(coming)

    async def _reading(self, name: str, read: Callable[[], Awaitable[_Read]]) -> _Read:
        try:
            return self._kept.put(name, await read())
        except ModelDamaged as error:
            message = f"The stored model {name} is damaged. {error.message}."
            raise Damaged("MODEL_DAMAGED", message, model=name) from error
        finally:
            del self._coming[name]

    async def _read_uploaded(self, model_id: ModelId) -> _Read:
        content = await self._uploaded.content(model_id)
        return await self._computing(_of_file, content, self.most_bytes)

    async def _read_result(self, session_id: SessionId, revision: int) -> _Read:
        pieces: list[bytes] = []
        while piece := await self._sessions.model_piece(session_id, revision, len(pieces)):
            pieces.append(piece)
        return await self._computing(_of_pieces, pieces)


def _of_file(content: bytes, most_bytes: int) -> _Read:
    return _of_parts(read_file(io.BytesIO(content), "The upload", most_bytes=most_bytes))


def _to_file(model: NamedModel) -> bytes:
    # (The stored pieces of a result's model do not have its name.)
    result = "" if names.is_model_name(model.name) else model.name
    fitted = replace(model.fitted, result=result or model.fitted.result)
    file = io.BytesIO()
    write_file(fitted, file)
    return file.getvalue()


def _of_pieces(pieces: Sequence[bytes]) -> _Read:
    return _of_parts(parts_of_messages(map(tuning_pb2.ExportModelResponse.FromString, pieces)))


def _of_parts(parts: dict[str, Any]) -> _Read:
    fitted = FittedModel(**parts)
    _, arrays = fitted.to_parts()
    return _Read(fitted, sum(array.nbytes for array in arrays.values()))
