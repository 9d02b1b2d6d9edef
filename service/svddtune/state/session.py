"""What a tuning session is: its states, legal moves and parts. Pure values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NewType

from svddtune.config import SessionConfig
from svddtune.state.errors import StateError
from svddtune.v1 import dataset_pb2, tuning_pb2
from svddtune.v1.oracle_pb2 import Explanation

SessionId = NewType("SessionId", str)
DatasetId = NewType("DatasetId", str)
ModelId = NewType("ModelId", str)


class SessionState(Enum):
    """What a session is doing."""

    PREPARING = "PREPARING"
    LABELING = "LABELING"
    PAUSED = "PAUSED"
    ESTIMATING = "ESTIMATING"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def ended(self) -> bool:
        """True where nothing more happens by itself."""
        return self in ENDED


ENDED = frozenset({SessionState.COMPLETED, SessionState.CANCELLED, SessionState.FAILED})

# Legal moves. The Lua scripts move along these edges only; a test walks all pairs.
TRANSITIONS: dict[SessionState, frozenset[SessionState]] = {
    SessionState.PREPARING: frozenset(
        {
            SessionState.LABELING,
            SessionState.ESTIMATING,
            SessionState.CANCELLED,
            SessionState.FAILED,
        }
    ),
    SessionState.LABELING: frozenset(
        {
            SessionState.PAUSED,
            SessionState.ESTIMATING,
            SessionState.CANCELLED,
            SessionState.FAILED,
        }
    ),
    SessionState.PAUSED: frozenset(
        {
            SessionState.PREPARING,
            SessionState.LABELING,
            SessionState.ESTIMATING,
            SessionState.CANCELLED,
            SessionState.FAILED,
        }
    ),
    SessionState.ESTIMATING: frozenset(
        {SessionState.COMPLETED, SessionState.CANCELLED, SessionState.FAILED}
    ),
    SessionState.COMPLETED: frozenset({SessionState.PREPARING, SessionState.LABELING}),
    # (To ESTIMATING by its operator, who lets the job that failed be tried again.)
    SessionState.FAILED: frozenset(
        {SessionState.PREPARING, SessionState.LABELING, SessionState.ESTIMATING}
    ),
    SessionState.CANCELLED: frozenset(),
}


class Verdict(IntEnum):
    """What an oracle says. The values are the label code of arrays; UNSURE is no label."""

    INLIER = 1
    OUTLIER = -1
    UNSURE = 0


class SkipMode(Enum):
    """What becomes of a query that its labeler does not answer."""

    LATER = "LATER"
    OTHERS = "OTHERS"
    DROP = "DROP"


# Number of jobs that make an atlas, one for each representation of the columns and gamma of its
# plan (``numerics.lattice_plan``): with scaling "auto", and with any other.
AUTO_ATLAS_PARTS = 60
ATLAS_PARTS = 21

# Rows above which sessions with an atlas need the preparation of the panel alone
# (``numerics.SAMPLED_ABOVE``).
SAMPLED_ABOVE = 5000


def atlas_parts(scaling: dataset_pb2.ScalingKind) -> int:
    """Number of parts of the atlas of a dataset with this scaling."""
    return AUTO_ATLAS_PARTS if scaling == dataset_pb2.SCALING_KIND_AUTO else ATLAS_PARTS


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Observations per effective label."""

    inlier: int = 0
    outlier: int = 0
    unsure: int = 0

    @property
    def total(self) -> int:
        """Labels in the sense of the budget."""
        return self.inlier + self.outlier


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a session failed: a stable reason and a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ServeOrder:
    """What orders the sessions that one labeler serves.

    Higher priority comes first, then what is due sooner, then older ones.
    """

    priority: int
    created_ms: int
    due_ms: int | None = None

    @property
    def rank(self) -> tuple[float, float]:
        """Smaller where the session comes first, whoever asks."""
        return -self.priority, math.inf if self.due_ms is None else self.due_ms


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it was at one instant."""

    id: SessionId
    dataset_id: DatasetId
    display_name: str
    config: SessionConfig
    state: SessionState
    counts: LabelCounts
    observation_count: int
    query_count: int
    leased_count: int
    gamma: float
    # Representation of the columns that gamma belongs to; unspecified while there is none.
    scaling: dataset_pb2.ScalingKind
    alignment: float
    # A LiveEvidence message; empty while there is none.
    live: bytes
    # Share of the dataset's atlas that is there.
    atlas_progress: float
    # Latest stored result; 0 before the first.
    revision: int
    finish_reason: str
    failure: Failure | None
    created_ms: int
    updated_ms: int
    # Counts up with every change.
    version: int
    # Labelled observations on which a further vote is awaited.
    awaiting_votes: int = 0
    # A ranking is queued or being computed.
    ranking_pending: bool = False
    # Holders that wait for queries.
    waiting_count: int = 0
    # A DetectorComparison message; empty while there is none.
    detectors: bytes = b""
    # Labels that it took over from another session when it was created; None if it took none.
    taken_over: tuning_pb2.TakenOver | None = None
    # Whose it is.
    project: str = "default"
    # Keys and values of whoever manages sessions.
    labels: Mapping[str, str] = field(default_factory=dict)
    # Observations whose votes came to nothing and that await an adjudicator.
    awaiting_adjudication: int = 0
    # When it goes by itself; None where it does not.
    expires_ms: int | None = None
    # For how long it is kept after its end, 0 for good; None as long as the service is set to.
    retention_ms: int | None = None

    @property
    def due_ms(self) -> int | None:
        """When it is due; None for never."""
        after_s = self.config.due_seconds
        return self.created_ms + 1000 * after_s if after_s else None

    @property
    def serve_order(self) -> ServeOrder:
        """Its place among the sessions that a labeler serves."""
        return ServeOrder(self.config.priority, self.created_ms, self.due_ms)


@dataclass(frozen=True, slots=True)
class InitialLabel:
    """A label known when the session starts."""

    row: int
    verdict: Verdict
    source_reference: str = ""
    # Probability that it is right; None for certain.
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ControlItem:
    """An observation whose label is known, asked to see how good labelers are."""

    row: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row worth asking about."""

    row: int
    # +1 or -1: what the model predicts for the row; 0 without a model.
    predicted: int = 0
    # What its labeler is shown.
    explanation: Explanation = field(default_factory=Explanation)


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """A holder's request for queries, until it holds ``most``.

    A holder is a labeler on one stream and the streams that resume it, or on all its unary calls.
    """

    holder: str
    labeler: str
    most: int
    # Programs are asked before people.
    automated: bool = False
    # The holder serves several sessions: while it waits it gets a notice that there are queries,
    # and no lease until it asks again.
    notify_only: bool = False
    # What the labeler says of itself.
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lease:
    """A query that one labeler holds."""

    query: int
    row: int
    lease_id: str
    expires_ms: int
    # The labeler has answered the observation before and is shown it again.
    repeats: bool = False
    # The ``traceparent`` of the span that the query follows from; "" for none.
    trace: str = ""
    # The labeler decides as an adjudicator: the votes for inlier, outlier and unsure; else empty.
    conflict: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class LeaseOutcome:
    """What a labeler holds after asking for queries; ``now_ms`` is by the clock of Redis."""

    state: SessionState
    finish_reason: str
    leases: tuple[Lease, ...]
    now_ms: int
    lease_seconds: float
    # The labeler's votes were withdrawn: it is asked nothing.
    withdrawn: bool = False
    # The labeler lacks tags that the session requires: it is asked nothing.
    lacks_tags: bool = False

    @property
    def over_for_labeler(self) -> bool:
        """Whether the session is over for this labeler alone."""
        return self.withdrawn or self.lacks_tags


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an answer, skip or retraction."""

    applied: bool
    query: int = 0
    counts: LabelCounts = field(default_factory=LabelCounts)
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class LeasesReceipt:
    """What became of an extension or release of leases."""

    # Lease id -> its new end on Redis's clock; empty after a release.
    extended: Mapping[str, int]
    # Those named that the holder does not hold.
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BatchReceipt:
    """What became of a batch of answers."""

    # Answers that are votes now, by this call or by an earlier one with the same answer ids.
    applied: int
    counts: LabelCounts
    # Place in the batch -> why that answer was refused.
    refused: dict[int, StateError]


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict with what identifies it. ``row`` is None where only the query is named."""

    answer_id: str
    labeler: str
    holder: str
    verdict: Verdict
    query: int = 0
    lease_id: str = ""
    row: int | None = None
    source_reference: str = ""
    # The rule behind the verdict; "" for somebody's own judgement.
    provenance: str = ""
    # Corrects the labeler's earlier vote, where there is one.
    replace: bool = False
    # Probability that the verdict is right, by the labeler's word.
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class WithdrawalEffect:
    """What withdrawing or reinstating a labeler does; fields as in ``tuning.proto``."""

    votes: int
    labels_lost: int
    labels_changed: int
    labels_gained: int
    queries_reopened: int
    before: LabelCounts
    after: LabelCounts


@dataclass(frozen=True, slots=True)
class Reopening:
    """What asking again about an observation did."""

    # Number of the query that asks.
    query: int
    retracted_votes: int


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """One entry of the label log."""

    event_id: str
    # "LABELED", "RETRACTED", "UNUSED", "REPEATED", "CHECKED" (a control item was answered),
    # "WITHDRAWN" or "REINSTATED".
    kind: str
    row: int
    verdict: Verdict
    labeler: str
    query: int
    source_reference: str
    answer_id: str
    time_ms: int
    # Seconds from lease to answer; 0 where nothing was leased.
    answer_seconds: float = 0.0
    # The rule behind the verdict.
    provenance: str = ""
    # Probability that the verdict is right, by the labeler's word.
    confidence: float | None = None
    # The session in which the labeler gave this vote; "" where that is this one.
    origin: str = ""
    # An adjudicator's, which decides.
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class TakenLabel:
    """A label that a session takes over from another one when it is created."""

    row: int
    # In the order in which they were first given. Each names its origin.
    votes: tuple[LabelEvent, ...]
    # It was known when the other session was created, and nobody was asked later: it is taken as
    # true.
    known: bool = False


@dataclass(frozen=True, slots=True)
class TakenLabels:
    """Labels that a session takes over, and where from."""

    labels: tuple[TakenLabel, ...]
    summary: tuning_pb2.TakenOver
