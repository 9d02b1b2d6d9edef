"""Projects: what belongs to one is not there for callers of another.

A session or dataset keeps the name of its project, unless that is the default one, as for all that
was stored before there were projects. Ids that callers choose, or that follow from content, name
something else in each project: ``scoped`` gives the id under which it is stored.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID, uuid5

from svddtune.state import keys
from svddtune.state.connect import AsyncRedis
from svddtune.state.faults import store_call
from svddtune.state.session import DatasetId, SessionId

DEFAULT = "default"
_NAME = re.compile(keys.PROJECT)
_IDS = UUID("6b1f0c52-5a0e-4d3c-9a53-0f0d8a3f6b7e")

_current: ContextVar[str] = ContextVar("project", default=DEFAULT)


def current() -> str:
    """Return the project that the running task works for."""
    return _current.get()


def work_for(project: str) -> None:
    """Let the running task, and those that it starts, work for a project from now on."""
    _current.set(project)


@contextmanager
def working_for(project: str) -> Iterator[None]:
    """Work for a project in a block."""
    before = _current.set(project)
    try:
        yield
    finally:
        _current.reset(before)


def is_name(text: str) -> bool:
    """Whether a project can have this name: 1 to 63 of a-z, 0-9 and "._-"."""
    return _NAME.fullmatch(text) is not None


def stored() -> str | None:
    """Return the current project as records name it: None for the default one."""
    return None if current() == DEFAULT else current()


def scoped(text: str) -> UUID | None:
    """Return what stands for an id in the current project; None in the default one, for itself."""
    return None if current() == DEFAULT else uuid5(_IDS, f"{current()}/{text}")


def scoped_uuid(text: str) -> str:
    """Return the UUID that stands for one in the current project."""
    return str(scoped(text) or text)


class Owners:
    """Tells which project a session or dataset belongs to. Raises ``StoreUnavailable``."""

    def __init__(self, client: AsyncRedis, *, partitions: int = 1) -> None:
        self._client = client
        self._partitions = partitions

    async def of_session(self, session_id: SessionId) -> str | None:
        """Return its project; None where there is no such session."""
        return await self._of(keys.session(session_id))

    async def of_dataset(self, dataset_id: DatasetId) -> str | None:
        """Return its project; None where there is no such dataset."""
        partition = keys.partition_of_dataset(dataset_id, self._partitions)
        return await self._of(keys.dataset(partition, dataset_id))

    async def _of(self, key: str) -> str | None:
        async with store_call():
            count, project = await self._client.hmget(key, "n", "project")
        if count is None:
            return None
        return DEFAULT if project is None else str(project.decode())
