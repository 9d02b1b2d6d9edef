"""The exceptions of this package.

::

    SvddtuneError
    ├── InvalidInput         the values given are wrong: change them
    │   ├── ModelCorrupt     the model file or message does not hold what it promises
    │   └── UsageError       a command was given wrongly: another option or value is needed
    ├── NotFound             no dataset, session or result of that name
    ├── WrongState           the session does not accept this in its state
    │   └── LeaseLost        the query went to somebody else
    ├── Conflict             another change came first: read again, then decide
    ├── Unavailable          no answer for now: try again after ``retry_after_s``
    ├── Unauthenticated      the caller has not proved its identity
    ├── PermissionDenied     the caller is not allowed to do this
    ├── QuotaExceeded        more than the server allows at once
    ├── ProtocolError        client and server do not speak the same protocol
    ├── NotInstalled         a package is missing: install the extra that the message names
    └── InternalError        a fault of the server; ``metadata`` has the id in its log
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
        Seconds after which the server asks to try again; None where it does not.
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
    """A model cannot be read, or does not compute the distances that it was saved with."""

    default_reason = "MODEL_CORRUPT"


class NotFound(SvddtuneError, LookupError):
    """There is no resource of that name."""

    default_reason = "NOT_FOUND"


class WrongState(SvddtuneError):
    """The session does not accept this in its present state."""

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
    """The server requires the caller to prove its identity."""

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
