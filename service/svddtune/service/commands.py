"""What the dialogue with a labeler wants done; ``conversation.py`` does it."""

from dataclasses import dataclass

from svddtune.state.errors import StateError
from svddtune.state.session import Lease, LeaseRequest, SessionId
from svddtune.v1 import oracle_pb2


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message."""

    response: oracle_pb2.ConverseResponse


@dataclass(frozen=True, slots=True)
class Open:
    """Begin to follow the sessions (none: all that ask) and load them; then ``opened``."""

    session_ids: tuple[SessionId, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """Store what the labeler said; then ``applied`` or ``refused``."""

    session_id: SessionId
    request: oracle_pb2.ConverseRequest
    # Who gets the next query, where it is to come by itself.
    then: LeaseRequest | None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Say what is wrong with an item; then ``refused``."""

    request: oracle_pb2.ConverseRequest
    error: StateError


@dataclass(frozen=True, slots=True)
class Look:
    """Lease what ``wanted`` says when this command's turn comes; then ``looked``."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send leased queries with what the labeler is shown."""

    session_id: SessionId
    leases: tuple[Lease, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Load the session; then ``reported``."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class ReleaseAll:
    """Give all leases back."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class End:
    """End the stream."""


Command = Send | Open | Apply | Refuse | Look | Deliver | Report | ReleaseAll | End
