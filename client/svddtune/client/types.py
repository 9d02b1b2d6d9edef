"""The client's values: what datasets, sessions, queries and answers look like to a caller."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from svddtune.client.errors import InvalidInput, SvddtuneError
from svddtune.client.json_values import jsonable
from svddtune.client.shown import Shown
from svddtune.config import SessionConfig
from svddtune.cost import CostEstimate

FloatArray = NDArray[np.float64]
LabelArray = NDArray[np.int8]
# The detectors of a model: the tuned SVDD, and the refined detector.
Which = Literal["svdd", "refined"]


class Verdict(StrEnum):
    """What an oracle says about one observation: +1 inlier, -1 outlier."""

    INLIER = "inlier"
    OUTLIER = "outlier"
    UNSURE = "unsure"

    @property
    def sign(self) -> int:
        """+1 for an inlier, -1 for an outlier, 0 for unsure."""
        return {"inlier": 1, "outlier": -1, "unsure": 0}[self.value]

    @classmethod
    def of(cls, value: object) -> Verdict:
        """Return the verdict for "inlier", "outlier", "unsure" (any case), +1 or -1.

        Raises
        ------
        InvalidInput
            For everything else, booleans and 0 included: they mean different things elsewhere.
        """
        if isinstance(value, Verdict):
            return value
        if isinstance(value, str) and value.strip().lower() in _WORDS:
            return cls(value.strip().lower())
        if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
            if value == 1:
                return cls.INLIER
            if value == -1:
                return cls.OUTLIER
        raise InvalidInput(
            f"{value!r} is not a verdict: use 'inlier' (+1), 'outlier' (-1) or 'unsure'",
            metadata={"value": repr(value)},
        )


_WORDS = frozenset(verdict.value for verdict in Verdict)


@dataclass(frozen=True, slots=True, repr=False)
class Judgement(Shown):
    """A verdict, and how sure its labeler is.

    Attributes
    ----------
    verdict : Verdict
    confidence : float or None
        Probability that the verdict is right, above 0.5 and at most 1; None where the labeler does
        not say, and always for "unsure".
    """

    verdict: Verdict
    confidence: float | None = None

    @classmethod
    def of(cls, value: object) -> Judgement:
        """Return the judgement that a value stands for.

        Parameters
        ----------
        value : object
            A judgement, a verdict as `Verdict.of` takes it, or (verdict, confidence).

        Raises
        ------
        InvalidInput
            For everything else.
        """
        if isinstance(value, Judgement):
            verdict, confidence = value.verdict, value.confidence
        elif isinstance(value, tuple) and len(value) == 2:
            verdict, confidence = Verdict.of(value[0]), value[1]
        else:
            return cls(Verdict.of(value))
        if confidence is None:
            return cls(verdict)
        if verdict is Verdict.UNSURE:
            raise InvalidInput(
                "'unsure' takes no confidence",
                metadata={"field": "confidence", "value": repr(confidence)},
            )
        if (
            not isinstance(confidence, numbers.Real)
            or isinstance(confidence, bool | np.bool_)
            or not 0.5 < confidence <= 1.0
        ):
            raise InvalidInput(
                f"confidence is {confidence!r}; allowed: above 0.5, at most 1, or None. For a "
                "verdict that is as likely wrong as right, answer 'unsure'",
                metadata={"field": "confidence", "value": repr(confidence)},
            )
        return cls(verdict, float(confidence))


class SkipMode(StrEnum):
    """What becomes of a query that is not answered."""

    LATER = "later"
    """Ask me again later."""
    OTHERS = "others"
    """Ask somebody else, never again me."""
    DROP = "drop"
    """Ask nobody: the observation is left out of the session."""

    @classmethod
    def of(cls, value: SkipMode | str) -> SkipMode:
        """Return the mode for "later", "others" or "drop"; InvalidInput for all else."""
        try:
            return cls(value)
        except ValueError:
            raise InvalidInput(
                f"{value!r} is not a way to skip: use 'later', 'others' or 'drop'",
                metadata={"value": repr(value)},
            ) from None


class SessionState(StrEnum):
    """What a session is doing."""

    PREPARING = "preparing"
    LABELING = "labeling"
    PAUSED = "paused"
    ESTIMATING = "estimating"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """A state of a later version of the service."""

    @property
    def ended(self) -> bool:
        """True in the states that a session leaves only by being resumed."""
        return self in (SessionState.COMPLETED, SessionState.CANCELLED, SessionState.FAILED)


@dataclass(frozen=True, slots=True, repr=False)
class LabelCounts(Shown):
    """How many observations carry which label; total = inlier + outlier."""

    inlier: int = 0
    outlier: int = 0
    unsure: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Shown):
    """An interval estimate with its nominal coverage."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True, repr=False)
class Quality(Shown):
    """A score on labelled observations; NaN and no interval where it cannot be judged.

    `kind` is "queried" (on the observations that were asked about: optimistic), "audit" (on
    observations drawn uniformly and kept out of tuning: unbiased for all rows) or "held_out" (on
    observations that were asked about, each judged by a detector that was made without its label).
    """

    metric: str
    value: float
    interval: Interval | None
    counts: LabelCounts
    kind: str = "queried"


@dataclass(frozen=True, slots=True, repr=False)
class OutlierShare(Shown):
    """The estimated share of outliers among all rows, in [0, 1].

    `method` is "belief" (from the labels' model of the data) or "audit" (from observations drawn
    uniformly: unbiased). The interval's level is 0.9. `labels` is the number of labels behind it.
    """

    value: float
    interval: Interval
    method: str
    labels: int


@dataclass(frozen=True, slots=True, repr=False)
class DetectorComparison(Shown):
    """The tuned SVDD and the refined detector, each scored on labels that it was made without.

    `difference` is an interval of the refined detector's score less the SVDD's. `better` is "svdd"
    or "refined"; empty where the interval contains 0, so that the labels cannot tell.
    """

    svdd: Quality
    refined: Quality
    difference: Interval | None
    better: str
    labels: int


@dataclass(frozen=True, slots=True, repr=False)
class LiveEvidence(Shown):
    """The best cell (scaling, gamma, C) on the labels so far, by look-up in the atlas.

    `expected` is its expected score on all rows, for ranking; `advice` says in sentences whether
    more labels are worth their price, and `stop` whether a stop rule holds. `expected_gain` is how
    much the next 10 labels are expected to raise Cohen's kappa on all rows, a mean over sessions.
    """

    # Kind of the cell's representation of the columns, for example "minmax".
    scaling: str
    gamma: float
    C: float
    outside_count: int
    quality: Quality
    expected: float
    advice: str
    stop: bool
    labels: int
    # None with fewer than 10 labels or without labels of both classes, unless the audit has 20
    # answers.
    outlier_share: OutlierShare | None = None
    # None likewise, with another metric than kappa, and with another strategy than "mixed" and
    # "knowledge_gradient".
    expected_gain: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Shown):
    """A stored N x M matrix, without its rows.

    `labels` are keys and values for whoever manages datasets.
    """

    name: str
    display_name: str
    observation_count: int
    feature_count: int
    feature_names: tuple[str, ...]
    scaling: str
    content_hash: str
    duplicate_row_count: int
    constant_columns: tuple[int, ...]
    session_count: int
    create_time: datetime | None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    # When the service deletes it by itself; None where it does not, and while a session uses it.
    expire_time: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return jsonable(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, repr=False)
class TakenOver(Shown):
    """The labels that a session took over from another when it was created.

    `source` is the name of the session or result they come from. `taken` counts the labels that
    were taken over; `left_out` those that were not, because the dataset has no observation with the
    same id, or because an initial label counts instead.
    """

    source: str
    taken: int
    left_out: int


@dataclass(frozen=True, slots=True, repr=False)
class Session(Shown):
    """One tuning run as it was when the server last spoke of it.

    `awaiting_votes` counts the labelled observations on which a further vote is sought, and
    `awaiting_adjudication` those whose votes came to no verdict, so that an adjudicator decides.
    `ranking_pending` is True while a ranking is queued or being computed; the `waiting_count`
    labelers that wait for queries may get some from it. `without_workers` is True where nothing is
    computed for want of a worker; only `TuningClient.get_session` tells it. `stall` says why
    nothing goes on before somebody acts: "no_workers", "paused", "awaiting_votes",
    "awaiting_adjudication" or "job_given_up"; it is empty where it goes on. `get_session`,
    `list_sessions` and `watch` tell it. `labels` are keys and values for whoever manages sessions;
    they do not concern observations.
    """

    name: str
    dataset: str
    display_name: str
    config: SessionConfig
    state: SessionState
    counts: LabelCounts
    query_count: int
    leased_count: int
    # The best gamma so far and the representation it belongs to; 0 and empty before the first.
    gamma: float
    scaling: str
    alignment: float
    latest_result: str
    failure_reason: str
    failure_message: str
    observation_count: int
    etag: str
    # Share of the dataset's atlas that is there, and what it says of the labels so far.
    atlas_progress: float
    live: LiveEvidence | None
    awaiting_votes: int
    ranking_pending: bool
    waiting_count: int
    without_workers: bool
    create_time: datetime | None
    update_time: datetime | None
    # Of a few labels ago, or of now; None until two labels of each class are there.
    detectors: DetectorComparison | None = None
    # None unless it was created with `from_session`.
    taken_over: TakenOver | None = None
    # Only of a session just created.
    estimate: CostEstimate | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    # Of `get_session` and `watch` only.
    stall: str = ""
    # When the service deletes it by itself; None where it does not, and before its end.
    expire_time: datetime | None = None
    # Seconds after its end for which it is kept, 0 for good; None as long as the service is set to.
    retention_s: float | None = None
    awaiting_adjudication: int = 0
    # When it is due; None with no `due_seconds`. Whether that was over, and labels were lacking.
    due_time: datetime | None = None
    overdue: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return jsonable(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, repr=False)
class LabelEvent(Shown):
    """One event of a session's label log.

    `kind` is "labeled", "retracted", "unused" (too late to count), "repeated" (an observation shown
    to its labeler again; no vote), "checked" (a control item was answered; no vote), "withdrawn" or
    "reinstated" (all votes of a labeler; these two name no observation). `answer_seconds` is the
    time from lease to answer, 0 where nothing was leased.
    `provenance` is the rule behind the verdict, empty where the labeler judged by itself.
    `confidence` is the labeler's own, None where it gave none. `origin` is the name of the session
    in which the vote was given, if it was taken over from there; else it is empty. `adjudicates`
    tells that it is the vote of an adjudicator, which decides.
    """

    event_id: str
    kind: str
    observation_id: str
    row: int
    verdict: Verdict | None
    labeler: str
    query: int
    source_reference: str
    answer_id: str
    time: datetime | None
    answer_seconds: float = 0.0
    provenance: str = ""
    confidence: float | None = None
    origin: str = ""
    adjudicates: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class SessionUpdate(Shown):
    """What a watched session tells: how it is now, and the label events since the last update."""

    session: Session
    events: tuple[LabelEvent, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Nearby(Shown):
    """A labelled row near the one asked about; distance2 is squared, in scaled features."""

    observation_id: str
    verdict: Verdict | None
    distance2: float


@dataclass(frozen=True, slots=True, repr=False)
class Unusual(Shown):
    """A feature in which an observation differs from those that it is compared with.

    `value` and their median, `typical`, are raw; `deviation` is in robust standard deviations and
    negative below the median. `Query.reference_inliers` tells which observations these are.
    """

    name: str
    column: int
    value: float
    typical: float
    deviation: float


@dataclass(frozen=True, slots=True, repr=False)
class ServerInfo(Shown):
    """What a service is, what it can do and whether it is ready.

    Attributes
    ----------
    version : str
        Version of the service, e.g. "0.2.0".
    min_protocol_version, max_protocol_version : int
        Range of the versions of the labelers' dialogue that it speaks.
    features : tuple of str
        E.g. "resumable_uploads"; a number for what this client has no word for.
    limits : mapping of str to float
        By name, e.g. "observation_count": see ``ServerLimits`` in the API reference.
    ready : bool
        Whether calls that read and write can succeed now.
    message : str
        What is missing; empty if it is ready.
    workers : int or None
        Workers that gave a sign of life in the last 15 seconds; None if that is not known.
    caller : str
        Name that the credentials of this client give to its labels; empty where the service asks
        nobody who they are, and where the client has shown no credentials.
    """

    version: str
    min_protocol_version: int
    max_protocol_version: int
    features: tuple[str, ...]
    limits: Mapping[str, float]
    ready: bool
    message: str
    workers: int | None
    caller: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowScores(Shown):
    """What the service says about n rows by a model.

    Attributes
    ----------
    model : str
        Name of the result or of the uploaded model that judged.
    labels : array (n,)
        +1 (inlier) or -1 (outlier), by the detector that was asked for.
    distance : array (n,)
        Squared distance to the SVDD's centre less its threshold: positive for its outliers.
    probability : array (n,) or None
        Of being an outlier, by the refined detector where that was asked for.
    reasons : tuple of n tuples of Unusual
        The most unusual features of each row, most unusual first; empty where none were asked for.
    """

    model: str
    labels: LabelArray
    distance: FloatArray
    probability: FloatArray | None
    reasons: tuple[tuple[Unusual, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Observation(Shown):
    """A row of a dataset as labelers know it, without its features."""

    row: int
    observation_id: str
    display: Mapping[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class Adjudication(Shown):
    """The votes on an observation that this labeler is to decide; all 0 in a blind session."""

    inlier_votes: int
    outlier_votes: int
    unsure_votes: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Query(Shown):
    """One observation that the service asks about, leased to this labeler.

    `features` are the M raw values, none in a session with ``raw_features=False``. In a session
    with `visible_features` they are the values of those alone, and `columns` and `names` say which
    they are: the columns of the dataset, and their names where it has names; else both are empty.
    `score` is what the strategy ranked by. `nearby` are the nearest labelled observations, nearest
    first. `unusual` are the features that set this one apart, most unusual first. They compare it
    with `reference_inliers` labelled inliers, or with all observations where that is 0. `number` is
    unique within `session`. `adjudication` has the votes so far where they came to no verdict and
    this labeler's vote decides.
    """

    number: int
    observation_id: str
    row: int
    features: FloatArray
    display: Mapping[str, str]
    why: str
    score: float
    lease_id: str
    lease_expires: datetime | None
    nearby: tuple[Nearby, ...] = ()
    unusual: tuple[Unusual, ...] = ()
    reference_inliers: int = 0
    session: str = ""
    columns: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    adjudication: Adjudication | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Ack(Shown):
    """The server has stored an answer. `applied` is False where it came too late to count."""

    answer_id: str
    query: int
    applied: bool
    counts: LabelCounts
    event_id: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class RefusedLabel(Shown):
    """A label of many that the session did not take, and why."""

    observation_id: str
    answer_id: str
    error: SvddtuneError


@dataclass(frozen=True, slots=True, repr=False)
class BatchOutcome(Shown):
    """What became of many labels given at once."""

    # Labels that are votes now, those included that an earlier call with the same ids had given.
    applied: int
    # The session's counts afterwards.
    counts: LabelCounts
    refused: tuple[RefusedLabel, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Label(Shown):
    """A label known when a session starts, or given unasked."""

    observation_id: str
    verdict: Verdict
    source_reference: str = field(default="")
    # Probability that the verdict is right, as in Judgement.
    confidence: float | None = None
