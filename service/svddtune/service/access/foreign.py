"""An identity provider of an installed package: its faults are no faults of the caller."""

import asyncio
import logging

from svddtune.service.access.caller import Caller
from svddtune.service.access.faults import ProviderAway, invalid
from svddtune.service.access.identity import Credentials, IdentityProvider, caller_from
from svddtune.state.errors import StateError

log = logging.getLogger(__name__)

# Seconds within which a provider must say who calls.
ANSWER_S = 10.0


class Foreign:
    """An identity provider around another one."""

    def __init__(
        self, name: str, provider: IdentityProvider, *, answer_s: float = ANSWER_S
    ) -> None:
        """Raise TypeError where the object is none."""
        if not callable(getattr(provider, "caller", None)):
            raise TypeError(f"{type(provider).__name__} has no method `caller`")
        self._name = name
        self._provider = provider
        self._answer_s = answer_s

    async def caller(self, credentials: Credentials) -> Caller | None:
        """Return whom the provider names. Raises Unauthenticated, ProviderAway."""
        try:
            async with asyncio.timeout(self._answer_s):
                found = await self._provider.caller(credentials)
            if found is None:
                return None
            name, project, role = found.name, found.project, found.role.name.lower()
        except StateError as error:
            # (The message goes to the log.)
            if credentials.token and credentials.token in error.message:
                raise invalid() from None
            raise
        except Exception as error:
            # (Not the traceback: its last line may quote the credentials.)
            log.error(
                "the identity provider failed",
                extra={"provider": self._name, "fault": type(error).__name__},
            )
            raise ProviderAway(
                "IDENTITY_PROVIDER_UNAVAILABLE",
                "The identity provider cannot say now who calls; try again.",
            ) from None
        # (What it names must be a labeler, a project and a role, as with all providers.)
        return caller_from(name, project, role)
