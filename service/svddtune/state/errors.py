"""What can go wrong with state, as exceptions that know no transport.

StateError                  a stable reason, a sentence, and the values it speaks of
├── InvalidInput            the request can never succeed as it is
│   └── InvalidFields       the fields at fault are named, all of them
├── NotFound                no such session, dataset, query or result
├── WrongState              right request, wrong moment
├── Conflict                clashes with what is stored already
├── TooLarge                over a limit
│   └── QuotaExceeded       over a limit on what one client or project has at once
├── Damaged                 stored data are not what was stored
└── StoreUnavailable        Redis or the dataset store is away, full or unfit; try again later
ClaimLost                   a worker's claim went to another worker: change nothing, go on
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that holds what it must not."""

    field: str
    description: str
    reason: str


class StateError(Exception):
    """A refusal with a stable ``reason`` and the values (``metadata``) its message names."""

    def __init__(self, reason: str, message: str, **metadata: object) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.metadata = {key: str(value) for key, value in metadata.items()}


class InvalidInput(StateError):
    """The request can never succeed as it is."""


class InvalidFields(InvalidInput):
    """Fields of a request hold what they must not; reason and values are those of the first."""

    def __init__(self, violations: Sequence[FieldViolation], **metadata: object) -> None:
        first = violations[0]
        message = " ".join(one.description for one in violations)
        super().__init__(first.reason, message, field=first.field, **metadata)
        self.violations = tuple(violations)


class NotFound(StateError):
    """No such thing."""


class WrongState(StateError):
    """The request is right, the moment is not."""


class Conflict(StateError):
    """The request clashes with what is stored already."""


class TooLarge(StateError):
    """The request is over a limit."""


class QuotaExceeded(TooLarge):
    """One client or project has as much as it may have at once.

    ``retry_s`` says in how many seconds the same request may succeed; None where waiting does not
    help by itself.
    """

    retry_s: float | None = None

    def __init__(
        self, reason: str, message: str, *, retry_s: float | None = None, **metadata: object
    ) -> None:
        super().__init__(reason, message, **metadata)
        self.retry_s = retry_s


class Damaged(StateError):
    """Stored data are missing or are not what was stored."""


class StoreUnavailable(StateError):
    """Redis is away (``STORE_UNAVAILABLE``), full (``STORE_FULL``) or unfit (``REDIS_UNSAFE``).

    Or too few of its replicas have a change (``NOT_REPLICATED``), or it does not allow a command
    (``STORE_FORBIDDEN``).

    Or the dataset store cannot be used (``DATASET_STORE_UNAVAILABLE``, ``DATASET_STORE_NOT_SET``),
    or a worker's copies of its datasets cannot (``DATASET_CACHE_UNUSABLE``).
    """


class ClaimLost(Exception):
    """Another worker has the job now; this worker's outcome was not stored."""
