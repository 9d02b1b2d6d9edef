"""Whether what a call names is there for its caller: foreign things are as if they were not.

What does not exist and what belongs to another project end a call in this one place, before
anything else of the request is looked at. So no caller can tell one from the other.
"""

from svddtune.service.cache import Lru
from svddtune.state import keys, projects
from svddtune.state.calls import refusal
from svddtune.state.projects import Owners
from svddtune.state.session import DatasetId, SessionId

# Whose something is never changes.
_REMEMBERED = 20_000


class Ownership:
    """The things of the running task's project."""

    def __init__(self, owners: Owners, *, kept_apart: bool) -> None:
        """``kept_apart`` is False where everybody may reach everything by its name."""
        self._owners = owners
        self._kept_apart = kept_apart
        self._known: Lru[str, str] = Lru(_REMEMBERED)

    async def check(self, name: str) -> None:
        """Check the name of a session, a result or a dataset.

        Any other text passes: a malformed name, which names nothing, and that of an uploaded
        model, which is stored under an id of the project's own.

        Raises NotFound (``SESSION_NOT_FOUND``, ``DATASET_NOT_FOUND``).
        """
        collection, _, rest = name.partition("/")
        found = rest.partition("/")[0]
        if collection == "sessions" and keys.is_session_id(found):
            await self.check_session(SessionId(found))
        if collection == "datasets" and keys.is_dataset_id(found):
            await self.check_dataset(DatasetId(found))

    async def check_session(self, session_id: SessionId) -> None:
        """Raise NotFound (``SESSION_NOT_FOUND``) unless the project has the session."""
        if self._kept_apart and self._known.get(session_id) != projects.current():
            owner = await self._owners.of_session(session_id)
            if owner != projects.current():
                raise refusal("SESSION_NOT_FOUND", {}, {"session": session_id})
            self._known.put(session_id, owner)

    async def check_dataset(self, dataset_id: DatasetId) -> None:
        """Raise NotFound (``DATASET_NOT_FOUND``) unless the project has the dataset."""
        if self._kept_apart and self._known.get(dataset_id) != projects.current():
            owner = await self._owners.of_dataset(dataset_id)
            if owner != projects.current():
                raise refusal("DATASET_NOT_FOUND", {}, {"dataset": dataset_id})
            self._known.put(dataset_id, owner)
