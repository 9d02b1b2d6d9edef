"""Identity providers: what a call shows of its caller becomes a caller.

A provider looks at the credentials of a call. It returns the caller they prove, None where they are
of a kind that it does not know, and raises ``Unauthenticated`` where they prove nobody.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from svddtune.service.access.caller import ANYBODY, NOBODY, Caller, Role
from svddtune.service.access.faults import Forbidden, Unauthenticated, invalid
from svddtune.service.sparing import Sparing
from svddtune.service.status import Context
from svddtune.service.validate import is_labeler
from svddtune.state import projects
from svddtune.state.errors import StateError

log = logging.getLogger(__name__)

_SCHEME = "bearer"
# Refused callers that the log names in each second; further ones are counted.
LINES_PER_S = 10
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a call shows of its caller."""

    # What follows "Bearer" in the header ``authorization``; "" without it.
    token: str = ""
    # The client's certificate, in PEM; empty without one. The TLS library has verified it.
    certificate: bytes = b""


class IdentityProvider(Protocol):
    """One way to tell who calls."""

    async def caller(self, credentials: Credentials) -> Caller | None:
        """Return whom credentials prove; None where they are of another kind.

        Raises Unauthenticated where they are of this kind and prove nobody.
        """
        ...


def caller_from(name: str, project: str, role: str) -> Caller:
    """Return the caller that credentials name. Raises Unauthenticated where it can be none."""
    if not is_labeler(name):
        raise invalid(f"{name[:100]!r} cannot be a labeler's name")
    if not projects.is_name(project):
        raise invalid(f"{project[:100]!r} cannot be a project's name")
    found = next((one for one in Role if one and one.name.lower() == role), None)
    if found is None:
        raise invalid(f"{role[:100]!r} is no role")
    return Caller(name, project, found)


class Identities:
    """All identity providers of a service, asked in order."""

    def __init__(self, providers: Sequence[IdentityProvider] = ()) -> None:
        self._providers = tuple(providers)
        self._refusals = Sparing(log, "caller refused", most=LINES_PER_S)

    @property
    def asked(self) -> bool:
        """Whether the service asks who calls."""
        return bool(self._providers)

    async def caller_of(self, context: Context) -> Caller:
        """Return who makes a call; as ``caller``."""
        return await self.caller(credentials_of(context)) if self._providers else ANYBODY

    def note_refusal(self, error: StateError, peer: str) -> None:
        """Write to the log who was refused, and why; nothing for an error of another kind."""
        if isinstance(error, Unauthenticated | Forbidden):
            self._refusals.note(peer=peer, reason=error.reason, why=error.message[:_LONGEST])

    async def caller(self, credentials: Credentials) -> Caller:
        """Return who calls: NOBODY without credentials, ANYBODY where nobody is asked.

        Raises Unauthenticated where there are credentials, and they prove nobody.
        """
        if not self._providers:
            return ANYBODY
        if not (credentials.token or credentials.certificate):
            return NOBODY
        for provider in self._providers:
            found = await provider.caller(credentials)
            if found is not None:
                return found
        raise invalid()


def credentials_of(context: Context) -> Credentials:
    """Return what a call shows. Raises Unauthenticated where its header cannot be read."""
    return Credentials(bearer_token(context.invocation_metadata() or ()), _certificate(context))


def bearer_token(headers: Iterable[tuple[str, Any]]) -> str:
    """Return the token in the header ``authorization``; "" where there is none.

    ``headers`` are names, in lower case, and values. Raises Unauthenticated for another scheme than
    Bearer, and for several such headers: a proxy in front may have judged another one of them.
    """
    found = [str(value) for name, value in headers if name == "authorization"]
    if len(found) > 1:
        raise invalid("there is more than one header authorization")
    header = found[0] if found else ""
    scheme, _, token = header.partition(" ")
    if header and (scheme.lower() != _SCHEME or not token.strip()):
        raise invalid('the header authorization must be "Bearer" and a token')
    return token.strip()


def _certificate(context: Context) -> bytes:
    shown: Mapping[str, Iterable[bytes]] = context.auth_context()
    return next(iter(shown.get("x509_pem_cert", ())), b"")
