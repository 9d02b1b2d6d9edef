import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.api import field_behavior_pb2 as _field_behavior_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from svddtune.v1 import common_pb2 as _common_pb2
from svddtune.v1 import tuning_pb2 as _tuning_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LabelerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LABELER_KIND_UNSPECIFIED: _ClassVar[LabelerKind]
    LABELER_KIND_HUMAN: _ClassVar[LabelerKind]
    LABELER_KIND_AUTOMATED: _ClassVar[LabelerKind]

class SkipMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SKIP_MODE_UNSPECIFIED: _ClassVar[SkipMode]
    SKIP_MODE_LATER: _ClassVar[SkipMode]
    SKIP_MODE_OTHERS: _ClassVar[SkipMode]
    SKIP_MODE_DROP: _ClassVar[SkipMode]

class RevokeReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVOKE_REASON_UNSPECIFIED: _ClassVar[RevokeReason]
    REVOKE_REASON_EXPIRED: _ClassVar[RevokeReason]
    REVOKE_REASON_ANSWERED_BY_OTHER: _ClassVar[RevokeReason]
    REVOKE_REASON_SESSION_ENDED: _ClassVar[RevokeReason]
    REVOKE_REASON_LABELER_WITHDRAWN: _ClassVar[RevokeReason]

class DrainReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DRAIN_REASON_UNSPECIFIED: _ClassVar[DrainReason]
    DRAIN_REASON_SHUTDOWN: _ClassVar[DrainReason]
    DRAIN_REASON_STREAM_AGE: _ClassVar[DrainReason]
    DRAIN_REASON_IDLE: _ClassVar[DrainReason]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_BUDGET_SPENT: _ClassVar[FinishReason]
    FINISH_REASON_POOL_EXHAUSTED: _ClassVar[FinishReason]
    FINISH_REASON_STOP_RULE: _ClassVar[FinishReason]
    FINISH_REASON_FINISHED: _ClassVar[FinishReason]
    FINISH_REASON_CANCELLED: _ClassVar[FinishReason]
    FINISH_REASON_FAILED: _ClassVar[FinishReason]
    FINISH_REASON_LABELER_WITHDRAWN: _ClassVar[FinishReason]
    FINISH_REASON_DELETED: _ClassVar[FinishReason]
    FINISH_REASON_TAGS_MISSING: _ClassVar[FinishReason]
LABELER_KIND_UNSPECIFIED: LabelerKind
LABELER_KIND_HUMAN: LabelerKind
LABELER_KIND_AUTOMATED: LabelerKind
SKIP_MODE_UNSPECIFIED: SkipMode
SKIP_MODE_LATER: SkipMode
SKIP_MODE_OTHERS: SkipMode
SKIP_MODE_DROP: SkipMode
REVOKE_REASON_UNSPECIFIED: RevokeReason
REVOKE_REASON_EXPIRED: RevokeReason
REVOKE_REASON_ANSWERED_BY_OTHER: RevokeReason
REVOKE_REASON_SESSION_ENDED: RevokeReason
REVOKE_REASON_LABELER_WITHDRAWN: RevokeReason
DRAIN_REASON_UNSPECIFIED: DrainReason
DRAIN_REASON_SHUTDOWN: DrainReason
DRAIN_REASON_STREAM_AGE: DrainReason
DRAIN_REASON_IDLE: DrainReason
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_BUDGET_SPENT: FinishReason
FINISH_REASON_POOL_EXHAUSTED: FinishReason
FINISH_REASON_STOP_RULE: FinishReason
FINISH_REASON_FINISHED: FinishReason
FINISH_REASON_CANCELLED: FinishReason
FINISH_REASON_FAILED: FinishReason
FINISH_REASON_LABELER_WITHDRAWN: FinishReason
FINISH_REASON_DELETED: FinishReason
FINISH_REASON_TAGS_MISSING: FinishReason

class Hello(_message.Message):
    __slots__ = ("min_protocol_version", "labeler", "kind", "sessions", "resume_token", "credit", "max_protocol_version", "client_name", "client_version", "tags")
    MIN_PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    MAX_PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_NAME_FIELD_NUMBER: _ClassVar[int]
    CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    min_protocol_version: int
    labeler: str
    kind: LabelerKind
    sessions: _containers.RepeatedScalarFieldContainer[str]
    resume_token: str
    credit: int
    max_protocol_version: int
    client_name: str
    client_version: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, min_protocol_version: _Optional[int] = ..., labeler: _Optional[str] = ..., kind: _Optional[_Union[LabelerKind, str]] = ..., sessions: _Optional[_Iterable[str]] = ..., resume_token: _Optional[str] = ..., credit: _Optional[int] = ..., max_protocol_version: _Optional[int] = ..., client_name: _Optional[str] = ..., client_version: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class Credit(_message.Message):
    __slots__ = ("queries",)
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    queries: int
    def __init__(self, queries: _Optional[int] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("answer_id", "session", "query", "lease_id", "observation_id", "verdict", "source_reference", "replace", "provenance", "confidence")
    ANSWER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    answer_id: str
    session: str
    query: int
    lease_id: str
    observation_id: str
    verdict: _common_pb2.Verdict
    source_reference: str
    replace: bool
    provenance: str
    confidence: float
    def __init__(self, answer_id: _Optional[str] = ..., session: _Optional[str] = ..., query: _Optional[int] = ..., lease_id: _Optional[str] = ..., observation_id: _Optional[str] = ..., verdict: _Optional[_Union[_common_pb2.Verdict, str]] = ..., source_reference: _Optional[str] = ..., replace: bool = ..., provenance: _Optional[str] = ..., confidence: _Optional[float] = ...) -> None: ...

class Skip(_message.Message):
    __slots__ = ("session", "query", "lease_id", "mode")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    session: str
    query: int
    lease_id: str
    mode: SkipMode
    def __init__(self, session: _Optional[str] = ..., query: _Optional[int] = ..., lease_id: _Optional[str] = ..., mode: _Optional[_Union[SkipMode, str]] = ...) -> None: ...

class Extend(_message.Message):
    __slots__ = ("session", "lease_ids")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    LEASE_IDS_FIELD_NUMBER: _ClassVar[int]
    session: str
    lease_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session: _Optional[str] = ..., lease_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Release(_message.Message):
    __slots__ = ("session", "lease_ids")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    LEASE_IDS_FIELD_NUMBER: _ClassVar[int]
    session: str
    lease_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session: _Optional[str] = ..., lease_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Retract(_message.Message):
    __slots__ = ("answer_id", "session", "observation_id", "of_labeler")
    ANSWER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    OF_LABELER_FIELD_NUMBER: _ClassVar[int]
    answer_id: str
    session: str
    observation_id: str
    of_labeler: str
    def __init__(self, answer_id: _Optional[str] = ..., session: _Optional[str] = ..., observation_id: _Optional[str] = ..., of_labeler: _Optional[str] = ...) -> None: ...

class Bye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ConverseRequest(_message.Message):
    __slots__ = ("hello", "credit", "answer", "skip", "extend", "release", "retract", "bye", "request_id")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    EXTEND_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    RETRACT_FIELD_NUMBER: _ClassVar[int]
    BYE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    credit: Credit
    answer: Answer
    skip: Skip
    extend: Extend
    release: Release
    retract: Retract
    bye: Bye
    request_id: str
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., credit: _Optional[_Union[Credit, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ..., skip: _Optional[_Union[Skip, _Mapping]] = ..., extend: _Optional[_Union[Extend, _Mapping]] = ..., release: _Optional[_Union[Release, _Mapping]] = ..., retract: _Optional[_Union[Retract, _Mapping]] = ..., bye: _Optional[_Union[Bye, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("resume_token", "lease_seconds", "heartbeat_seconds", "protocol_version", "session", "stream_seconds")
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LEASE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    STREAM_SECONDS_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    lease_seconds: float
    heartbeat_seconds: float
    protocol_version: int
    session: _tuning_pb2.Session
    stream_seconds: float
    def __init__(self, resume_token: _Optional[str] = ..., lease_seconds: _Optional[float] = ..., heartbeat_seconds: _Optional[float] = ..., protocol_version: _Optional[int] = ..., session: _Optional[_Union[_tuning_pb2.Session, _Mapping]] = ..., stream_seconds: _Optional[float] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("why", "score", "nearby", "unusual", "reference_inliers")
    WHY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    NEARBY_FIELD_NUMBER: _ClassVar[int]
    UNUSUAL_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_INLIERS_FIELD_NUMBER: _ClassVar[int]
    why: str
    score: float
    nearby: _containers.RepeatedCompositeFieldContainer[NearbyLabel]
    unusual: _containers.RepeatedCompositeFieldContainer[UnusualFeature]
    reference_inliers: int
    def __init__(self, why: _Optional[str] = ..., score: _Optional[float] = ..., nearby: _Optional[_Iterable[_Union[NearbyLabel, _Mapping]]] = ..., unusual: _Optional[_Iterable[_Union[UnusualFeature, _Mapping]]] = ..., reference_inliers: _Optional[int] = ...) -> None: ...

class UnusualFeature(_message.Message):
    __slots__ = ("name", "column", "value", "typical", "deviation")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TYPICAL_FIELD_NUMBER: _ClassVar[int]
    DEVIATION_FIELD_NUMBER: _ClassVar[int]
    name: str
    column: int
    value: float
    typical: float
    deviation: float
    def __init__(self, name: _Optional[str] = ..., column: _Optional[int] = ..., value: _Optional[float] = ..., typical: _Optional[float] = ..., deviation: _Optional[float] = ...) -> None: ...

class VisibleFeature(_message.Message):
    __slots__ = ("name", "column", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    column: int
    value: float
    def __init__(self, name: _Optional[str] = ..., column: _Optional[int] = ..., value: _Optional[float] = ...) -> None: ...

class NearbyLabel(_message.Message):
    __slots__ = ("observation_id", "verdict", "distance2")
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    DISTANCE2_FIELD_NUMBER: _ClassVar[int]
    observation_id: str
    verdict: _common_pb2.Verdict
    distance2: float
    def __init__(self, observation_id: _Optional[str] = ..., verdict: _Optional[_Union[_common_pb2.Verdict, str]] = ..., distance2: _Optional[float] = ...) -> None: ...

class Adjudication(_message.Message):
    __slots__ = ("inlier_votes", "outlier_votes", "unsure_votes")
    INLIER_VOTES_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_VOTES_FIELD_NUMBER: _ClassVar[int]
    UNSURE_VOTES_FIELD_NUMBER: _ClassVar[int]
    inlier_votes: int
    outlier_votes: int
    unsure_votes: int
    def __init__(self, inlier_votes: _Optional[int] = ..., outlier_votes: _Optional[int] = ..., unsure_votes: _Optional[int] = ...) -> None: ...

class Assign(_message.Message):
    __slots__ = ("session", "query", "observation_id", "row", "features", "display", "lease_id", "lease_expire_time", "explanation", "visible", "adjudication")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    ADJUDICATION_FIELD_NUMBER: _ClassVar[int]
    session: str
    query: int
    observation_id: str
    row: int
    features: _containers.RepeatedScalarFieldContainer[float]
    display: _containers.RepeatedCompositeFieldContainer[_common_pb2.DisplayField]
    lease_id: str
    lease_expire_time: _timestamp_pb2.Timestamp
    explanation: Explanation
    visible: _containers.RepeatedCompositeFieldContainer[VisibleFeature]
    adjudication: Adjudication
    def __init__(self, session: _Optional[str] = ..., query: _Optional[int] = ..., observation_id: _Optional[str] = ..., row: _Optional[int] = ..., features: _Optional[_Iterable[float]] = ..., display: _Optional[_Iterable[_Union[_common_pb2.DisplayField, _Mapping]]] = ..., lease_id: _Optional[str] = ..., lease_expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., explanation: _Optional[_Union[Explanation, _Mapping]] = ..., visible: _Optional[_Iterable[_Union[VisibleFeature, _Mapping]]] = ..., adjudication: _Optional[_Union[Adjudication, _Mapping]] = ...) -> None: ...

class LeaseExpiry(_message.Message):
    __slots__ = ("lease_id", "expire_time")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    lease_id: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, lease_id: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ("answer_id", "query", "disposition", "counts", "event_id", "lost_lease_ids", "session", "request_id", "extended")
    class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DISPOSITION_UNSPECIFIED: _ClassVar[Ack.Disposition]
        DISPOSITION_APPLIED: _ClassVar[Ack.Disposition]
        DISPOSITION_UNUSED: _ClassVar[Ack.Disposition]
    DISPOSITION_UNSPECIFIED: Ack.Disposition
    DISPOSITION_APPLIED: Ack.Disposition
    DISPOSITION_UNUSED: Ack.Disposition
    ANSWER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    LOST_LEASE_IDS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXTENDED_FIELD_NUMBER: _ClassVar[int]
    answer_id: str
    query: int
    disposition: Ack.Disposition
    counts: _common_pb2.LabelCounts
    event_id: str
    lost_lease_ids: _containers.RepeatedScalarFieldContainer[str]
    session: str
    request_id: str
    extended: _containers.RepeatedCompositeFieldContainer[LeaseExpiry]
    def __init__(self, answer_id: _Optional[str] = ..., query: _Optional[int] = ..., disposition: _Optional[_Union[Ack.Disposition, str]] = ..., counts: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., event_id: _Optional[str] = ..., lost_lease_ids: _Optional[_Iterable[str]] = ..., session: _Optional[str] = ..., request_id: _Optional[str] = ..., extended: _Optional[_Iterable[_Union[LeaseExpiry, _Mapping]]] = ...) -> None: ...

class Reject(_message.Message):
    __slots__ = ("answer_id", "query", "status", "session", "request_id")
    ANSWER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    answer_id: str
    query: int
    status: _status_pb2.Status
    session: str
    request_id: str
    def __init__(self, answer_id: _Optional[str] = ..., query: _Optional[int] = ..., status: _Optional[_Union[_status_pb2.Status, _Mapping]] = ..., session: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class Revoke(_message.Message):
    __slots__ = ("session", "query", "lease_id", "reason")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    session: str
    query: int
    lease_id: str
    reason: RevokeReason
    def __init__(self, session: _Optional[str] = ..., query: _Optional[int] = ..., lease_id: _Optional[str] = ..., reason: _Optional[_Union[RevokeReason, str]] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _tuning_pb2.Session
    def __init__(self, session: _Optional[_Union[_tuning_pb2.Session, _Mapping]] = ...) -> None: ...

class Drain(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: DrainReason
    def __init__(self, reason: _Optional[_Union[DrainReason, str]] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("session", "reason")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    session: _tuning_pb2.Session
    reason: FinishReason
    def __init__(self, session: _Optional[_Union[_tuning_pb2.Session, _Mapping]] = ..., reason: _Optional[_Union[FinishReason, str]] = ...) -> None: ...

class ConverseResponse(_message.Message):
    __slots__ = ("welcome", "assign", "ack", "reject", "revoke", "progress", "drain", "finished")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    ASSIGN_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    REJECT_FIELD_NUMBER: _ClassVar[int]
    REVOKE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    assign: Assign
    ack: Ack
    reject: Reject
    revoke: Revoke
    progress: Progress
    drain: Drain
    finished: Finished
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., assign: _Optional[_Union[Assign, _Mapping]] = ..., ack: _Optional[_Union[Ack, _Mapping]] = ..., reject: _Optional[_Union[Reject, _Mapping]] = ..., revoke: _Optional[_Union[Revoke, _Mapping]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., drain: _Optional[_Union[Drain, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ...) -> None: ...

class LeaseRequest(_message.Message):
    __slots__ = ("session", "labeler", "max_queries", "wait_seconds", "kind", "tags")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    MAX_QUERIES_FIELD_NUMBER: _ClassVar[int]
    WAIT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    session: str
    labeler: str
    max_queries: int
    wait_seconds: float
    kind: LabelerKind
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session: _Optional[str] = ..., labeler: _Optional[str] = ..., max_queries: _Optional[int] = ..., wait_seconds: _Optional[float] = ..., kind: _Optional[_Union[LabelerKind, str]] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class LeaseResponse(_message.Message):
    __slots__ = ("assignments", "session", "finish_reason")
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    assignments: _containers.RepeatedCompositeFieldContainer[Assign]
    session: _tuning_pb2.Session
    finish_reason: FinishReason
    def __init__(self, assignments: _Optional[_Iterable[_Union[Assign, _Mapping]]] = ..., session: _Optional[_Union[_tuning_pb2.Session, _Mapping]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ...) -> None: ...

class AnswerRequest(_message.Message):
    __slots__ = ("labeler", "answer")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    answer: Answer
    def __init__(self, labeler: _Optional[str] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ...) -> None: ...

class AnswerResponse(_message.Message):
    __slots__ = ("ack",)
    ACK_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    def __init__(self, ack: _Optional[_Union[Ack, _Mapping]] = ...) -> None: ...

class AnswerBatchRequest(_message.Message):
    __slots__ = ("labeler", "session", "answers", "more")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    session: str
    answers: _containers.RepeatedCompositeFieldContainer[Answer]
    more: bool
    def __init__(self, labeler: _Optional[str] = ..., session: _Optional[str] = ..., answers: _Optional[_Iterable[_Union[Answer, _Mapping]]] = ..., more: bool = ...) -> None: ...

class AnswerBatchResponse(_message.Message):
    __slots__ = ("counts", "applied_count", "rejects")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    APPLIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REJECTS_FIELD_NUMBER: _ClassVar[int]
    counts: _common_pb2.LabelCounts
    applied_count: int
    rejects: _containers.RepeatedCompositeFieldContainer[Reject]
    def __init__(self, counts: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., applied_count: _Optional[int] = ..., rejects: _Optional[_Iterable[_Union[Reject, _Mapping]]] = ...) -> None: ...

class ExtendRequest(_message.Message):
    __slots__ = ("labeler", "extend")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    EXTEND_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    extend: Extend
    def __init__(self, labeler: _Optional[str] = ..., extend: _Optional[_Union[Extend, _Mapping]] = ...) -> None: ...

class ExtendResponse(_message.Message):
    __slots__ = ("ack",)
    ACK_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    def __init__(self, ack: _Optional[_Union[Ack, _Mapping]] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("labeler", "release")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    release: Release
    def __init__(self, labeler: _Optional[str] = ..., release: _Optional[_Union[Release, _Mapping]] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ("ack",)
    ACK_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    def __init__(self, ack: _Optional[_Union[Ack, _Mapping]] = ...) -> None: ...

class SkipRequest(_message.Message):
    __slots__ = ("labeler", "skip")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    SKIP_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    skip: Skip
    def __init__(self, labeler: _Optional[str] = ..., skip: _Optional[_Union[Skip, _Mapping]] = ...) -> None: ...

class SkipResponse(_message.Message):
    __slots__ = ("ack",)
    ACK_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    def __init__(self, ack: _Optional[_Union[Ack, _Mapping]] = ...) -> None: ...

class RetractRequest(_message.Message):
    __slots__ = ("labeler", "retract")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    RETRACT_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    retract: Retract
    def __init__(self, labeler: _Optional[str] = ..., retract: _Optional[_Union[Retract, _Mapping]] = ...) -> None: ...

class RetractResponse(_message.Message):
    __slots__ = ("ack",)
    ACK_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    def __init__(self, ack: _Optional[_Union[Ack, _Mapping]] = ...) -> None: ...

class GetProfileRequest(_message.Message):
    __slots__ = ("session", "labeler")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    session: str
    labeler: str
    def __init__(self, session: _Optional[str] = ..., labeler: _Optional[str] = ...) -> None: ...

class FeatureProfile(_message.Message):
    __slots__ = ("name", "column", "center", "spread", "points", "shares", "minimum", "maximum")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    CENTER_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    name: str
    column: int
    center: float
    spread: float
    points: _containers.RepeatedScalarFieldContainer[float]
    shares: _containers.RepeatedScalarFieldContainer[float]
    minimum: float
    maximum: float
    def __init__(self, name: _Optional[str] = ..., column: _Optional[int] = ..., center: _Optional[float] = ..., spread: _Optional[float] = ..., points: _Optional[_Iterable[float]] = ..., shares: _Optional[_Iterable[float]] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ...) -> None: ...

class GetProfileResponse(_message.Message):
    __slots__ = ("features", "observation_count")
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    features: _containers.RepeatedCompositeFieldContainer[FeatureProfile]
    observation_count: int
    def __init__(self, features: _Optional[_Iterable[_Union[FeatureProfile, _Mapping]]] = ..., observation_count: _Optional[int] = ...) -> None: ...
