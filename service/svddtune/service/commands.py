"""Commands of the dialogue with a labeler; ``conversation.py`` carries them out."""

from dataclasses import dataclass

from svddtune.state.errors import StateError
from svddtune.state.session import Lease, LeaseRequest, SessionId
from svddtune.v1 import oracle_pb2

# What a labeler may send about one session.
Item = (
    oracle_pb2.Answer
    | oracle_pb2.Skip
    | oracle_pb2.Extend
    | oracle_pb2.Release
    | oracle_pb2.Retract
)


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message."""

    response: oracle_pb2.ConverseResponse


@dataclass(frozen=True, slots=True)
class Open:
    """Follow the sessions, or all that ask if none is named, and load them; then ``opened``."""

    session_ids: tuple[SessionId, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply an item to each of the sessions it is about; then ``applied`` or ``refused``."""

    # (Extend and Release alone may be about several sessions, or about none.)
    session_ids: tuple[SessionId, ...]
    item: Item
    request_id: str
    # Request for the queries that are to follow by themselves.
    then: LeaseRequest | None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse an item that is faulty in itself; then ``refused``."""

    # None for one that this version does not know.
    item: Item | oracle_pb2.Credit | None
    request_id: str
    error: StateError


@dataclass(frozen=True, slots=True)
class Look:
    """Make the request that ``wanted`` returns at that moment; then ``looked``."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send leased queries with what their labeler is shown."""

    session_id: SessionId
    leases: tuple[Lease, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Load the session; then ``reported``."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class ReleaseAll:
    """Release all leases in a session."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class End:
    """End the stream."""


Command = Send | Open | Apply | Refuse | Look | Deliver | Report | ReleaseAll | End
