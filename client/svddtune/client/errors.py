"""What can go wrong, as exceptions.

::

    SvddtuneError
    ├── InvalidInput         the values given are wrong: change them
    │   ├── ModelCorrupt     the model file or message does not hold what it promises
    │   └── UsageError       a command was given wrongly: another option or value is needed
    ├── NotFound             no dataset, session or result of that name
    ├── WrongState           the session does not take this now
    │   └── LeaseLost        the query went to somebody else
    ├── Conflict             something else got there first: read again, then decide
    ├── Unavailable          nobody answers now: try again after ``retry_after_s``
    ├── Unauthenticated      who are you?
    ├── PermissionDenied     you may not
    ├── QuotaExceeded        too much at once
    ├── ProtocolError        client and server do not speak the same protocol
    ├── NotInstalled         a package is missing: install the extra that the message names
    └── InternalError        a fault of the server; ``metadata`` has the id its log knows
"""

from __future__ import annotations

from collections.abc import Mapping


class SvddtuneError(Exception):
    """Root of all errors of this package.

    Attributes
    ----------
    reason : str
        Stable, UPPER_SNAKE_CASE; the same for the same fault in every release.
    metadata : Mapping[str, str]
        The values that the message names.
    retry_after_s : float or None
        When the server asks to try again, after so many seconds.
    """

    default_reason = "INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.metadata = dict(metadata or {})
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.message} [{self.reason}]"


class InvalidInput(SvddtuneError, ValueError):
    """The values given are wrong; sending them again will not help."""

    default_reason = "INVALID_FIELD"


class UsageError(InvalidInput):
    """The command was given wrongly: another option, or another value, is needed."""

    default_reason = "USAGE"


class ModelCorrupt(InvalidInput):
    """A model does not compute what it says it computes, or cannot be read."""

    default_reason = "MODEL_CORRUPT"


class NotFound(SvddtuneError, LookupError):
    """There is no resource of that name."""

    default_reason = "NOT_FOUND"


class WrongState(SvddtuneError):
    """The session does not take this in the state it is in."""

    default_reason = "SESSION_NOT_ACTIVE"


class LeaseLost(WrongState):
    """The query is no longer with this labeler."""

    default_reason = "LEASE_LOST"


class Conflict(SvddtuneError):
    """Somebody else changed it first, or an id was used for something else."""

    default_reason = "CONFLICT"


class Unavailable(SvddtuneError):
    """The server did not answer, or cannot at the moment; the same call may work later."""

    default_reason = "UNAVAILABLE"


class Unauthenticated(SvddtuneError):
    """The server wants to know who is calling."""

    default_reason = "UNAUTHENTICATED"


class PermissionDenied(SvddtuneError):
    """The caller may not do this."""

    default_reason = "PERMISSION_DENIED"


class QuotaExceeded(SvddtuneError):
    """More than the server allows at once."""

    default_reason = "QUOTA_EXCEEDED"


class ProtocolError(SvddtuneError):
    """The two ends do not speak the same protocol; one of them needs an update."""

    default_reason = "PROTOCOL_VIOLATION"


class NotInstalled(SvddtuneError, ImportError):
    """A package that this needs is not installed; the message says how to install it."""

    default_reason = "NOT_INSTALLED"


class InternalError(SvddtuneError):
    """A fault of the server, or of this package."""

    default_reason = "INTERNAL"
