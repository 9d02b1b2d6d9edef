import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.api import field_behavior_pb2 as _field_behavior_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from svddtune.v1 import common_pb2 as _common_pb2
from svddtune.v1 import dataset_pb2 as _dataset_pb2
from svddtune.v1 import config_pb2 as _config_pb2
from svddtune.v1 import result_pb2 as _result_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_PREPARING: _ClassVar[SessionState]
    SESSION_STATE_LABELING: _ClassVar[SessionState]
    SESSION_STATE_PAUSED: _ClassVar[SessionState]
    SESSION_STATE_ESTIMATING: _ClassVar[SessionState]
    SESSION_STATE_COMPLETED: _ClassVar[SessionState]
    SESSION_STATE_CANCELLED: _ClassVar[SessionState]
    SESSION_STATE_FAILED: _ClassVar[SessionState]

class StallReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STALL_REASON_UNSPECIFIED: _ClassVar[StallReason]
    STALL_REASON_NO_WORKERS: _ClassVar[StallReason]
    STALL_REASON_PAUSED: _ClassVar[StallReason]
    STALL_REASON_AWAITING_VOTES: _ClassVar[StallReason]
    STALL_REASON_JOB_GIVEN_UP: _ClassVar[StallReason]
    STALL_REASON_AWAITING_ADJUDICATION: _ClassVar[StallReason]

class AgreementBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGREEMENT_BY_UNSPECIFIED: _ClassVar[AgreementBy]
    AGREEMENT_BY_LABELER: _ClassVar[AgreementBy]
    AGREEMENT_BY_PROVENANCE: _ClassVar[AgreementBy]
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_PREPARING: SessionState
SESSION_STATE_LABELING: SessionState
SESSION_STATE_PAUSED: SessionState
SESSION_STATE_ESTIMATING: SessionState
SESSION_STATE_COMPLETED: SessionState
SESSION_STATE_CANCELLED: SessionState
SESSION_STATE_FAILED: SessionState
STALL_REASON_UNSPECIFIED: StallReason
STALL_REASON_NO_WORKERS: StallReason
STALL_REASON_PAUSED: StallReason
STALL_REASON_AWAITING_VOTES: StallReason
STALL_REASON_JOB_GIVEN_UP: StallReason
STALL_REASON_AWAITING_ADJUDICATION: StallReason
AGREEMENT_BY_UNSPECIFIED: AgreementBy
AGREEMENT_BY_LABELER: AgreementBy
AGREEMENT_BY_PROVENANCE: AgreementBy

class Failure(_message.Message):
    __slots__ = ("reason", "message")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class LiveEvidence(_message.Message):
    __slots__ = ("gamma", "c", "outside_count", "quality", "expected", "advice", "stop", "labels", "scaling", "outlier_share", "expected_gain")
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_SHARE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_GAIN_FIELD_NUMBER: _ClassVar[int]
    gamma: float
    c: float
    outside_count: int
    quality: _result_pb2.Quality
    expected: float
    advice: str
    stop: bool
    labels: int
    scaling: _dataset_pb2.ScalingKind
    outlier_share: _result_pb2.OutlierShare
    expected_gain: float
    def __init__(self, gamma: _Optional[float] = ..., c: _Optional[float] = ..., outside_count: _Optional[int] = ..., quality: _Optional[_Union[_result_pb2.Quality, _Mapping]] = ..., expected: _Optional[float] = ..., advice: _Optional[str] = ..., stop: bool = ..., labels: _Optional[int] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., outlier_share: _Optional[_Union[_result_pb2.OutlierShare, _Mapping]] = ..., expected_gain: _Optional[float] = ...) -> None: ...

class CostEstimate(_message.Message):
    __slots__ = ("first_query_seconds", "worker_memory_bytes")
    FIRST_QUERY_SECONDS_FIELD_NUMBER: _ClassVar[int]
    WORKER_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    first_query_seconds: float
    worker_memory_bytes: int
    def __init__(self, first_query_seconds: _Optional[float] = ..., worker_memory_bytes: _Optional[int] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("name", "dataset", "display_name", "config", "state", "counts", "query_count", "leased_count", "gamma", "alignment", "latest_result", "failure", "create_time", "update_time", "etag", "observation_count", "atlas_progress", "live", "awaiting_votes", "without_workers", "ranking_pending", "waiting_count", "scaling", "detectors", "taken_over", "estimate", "labels", "stall", "expire_time", "retention_seconds", "awaiting_adjudication", "due_time", "overdue")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    QUERY_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEASED_COUNT_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    LATEST_RESULT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    ATLAS_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    AWAITING_VOTES_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_WORKERS_FIELD_NUMBER: _ClassVar[int]
    RANKING_PENDING_FIELD_NUMBER: _ClassVar[int]
    WAITING_COUNT_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    DETECTORS_FIELD_NUMBER: _ClassVar[int]
    TAKEN_OVER_FIELD_NUMBER: _ClassVar[int]
    ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    STALL_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    RETENTION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    AWAITING_ADJUDICATION_FIELD_NUMBER: _ClassVar[int]
    DUE_TIME_FIELD_NUMBER: _ClassVar[int]
    OVERDUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    dataset: str
    display_name: str
    config: _config_pb2.SessionConfig
    state: SessionState
    counts: _common_pb2.LabelCounts
    query_count: int
    leased_count: int
    gamma: float
    alignment: float
    latest_result: str
    failure: Failure
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    etag: str
    observation_count: int
    atlas_progress: float
    live: LiveEvidence
    awaiting_votes: int
    without_workers: bool
    ranking_pending: bool
    waiting_count: int
    scaling: _dataset_pb2.ScalingKind
    detectors: _result_pb2.DetectorComparison
    taken_over: TakenOver
    estimate: CostEstimate
    labels: _containers.ScalarMap[str, str]
    stall: StallReason
    expire_time: _timestamp_pb2.Timestamp
    retention_seconds: float
    awaiting_adjudication: int
    due_time: _timestamp_pb2.Timestamp
    overdue: bool
    def __init__(self, name: _Optional[str] = ..., dataset: _Optional[str] = ..., display_name: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.SessionConfig, _Mapping]] = ..., state: _Optional[_Union[SessionState, str]] = ..., counts: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., query_count: _Optional[int] = ..., leased_count: _Optional[int] = ..., gamma: _Optional[float] = ..., alignment: _Optional[float] = ..., latest_result: _Optional[str] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., etag: _Optional[str] = ..., observation_count: _Optional[int] = ..., atlas_progress: _Optional[float] = ..., live: _Optional[_Union[LiveEvidence, _Mapping]] = ..., awaiting_votes: _Optional[int] = ..., without_workers: bool = ..., ranking_pending: bool = ..., waiting_count: _Optional[int] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., detectors: _Optional[_Union[_result_pb2.DetectorComparison, _Mapping]] = ..., taken_over: _Optional[_Union[TakenOver, _Mapping]] = ..., estimate: _Optional[_Union[CostEstimate, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., stall: _Optional[_Union[StallReason, str]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., retention_seconds: _Optional[float] = ..., awaiting_adjudication: _Optional[int] = ..., due_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., overdue: bool = ...) -> None: ...

class TakenOver(_message.Message):
    __slots__ = ("source", "taken_count", "left_out_count")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TAKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    source: str
    taken_count: int
    left_out_count: int
    def __init__(self, source: _Optional[str] = ..., taken_count: _Optional[int] = ..., left_out_count: _Optional[int] = ...) -> None: ...

class InitialLabel(_message.Message):
    __slots__ = ("observation_id", "verdict", "source_reference", "confidence")
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    observation_id: str
    verdict: _common_pb2.Verdict
    source_reference: str
    confidence: float
    def __init__(self, observation_id: _Optional[str] = ..., verdict: _Optional[_Union[_common_pb2.Verdict, str]] = ..., source_reference: _Optional[str] = ..., confidence: _Optional[float] = ...) -> None: ...

class ControlItem(_message.Message):
    __slots__ = ("observation_id", "verdict")
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    observation_id: str
    verdict: _common_pb2.Verdict
    def __init__(self, observation_id: _Optional[str] = ..., verdict: _Optional[_Union[_common_pb2.Verdict, str]] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("dataset", "display_name", "config", "initial_labels", "labeler", "request_id", "from_session", "labels", "retention_seconds", "validate_only", "controls")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    INITIAL_LABELS_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SESSION_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    display_name: str
    config: _config_pb2.SessionConfig
    initial_labels: _containers.RepeatedCompositeFieldContainer[InitialLabel]
    labeler: str
    request_id: str
    from_session: str
    labels: _containers.ScalarMap[str, str]
    retention_seconds: float
    validate_only: bool
    controls: _containers.RepeatedCompositeFieldContainer[ControlItem]
    def __init__(self, dataset: _Optional[str] = ..., display_name: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.SessionConfig, _Mapping]] = ..., initial_labels: _Optional[_Iterable[_Union[InitialLabel, _Mapping]]] = ..., labeler: _Optional[str] = ..., request_id: _Optional[str] = ..., from_session: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., retention_seconds: _Optional[float] = ..., validate_only: bool = ..., controls: _Optional[_Iterable[_Union[ControlItem, _Mapping]]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "states", "dataset", "display_name", "labels")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    states: _containers.RepeatedScalarFieldContainer[SessionState]
    dataset: str
    display_name: str
    labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., states: _Optional[_Iterable[_Union[SessionState, str]]] = ..., dataset: _Optional[str] = ..., display_name: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateSessionRequest(_message.Message):
    __slots__ = ("session", "update_mask", "request_id")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    session: Session
    update_mask: _field_mask_pb2.FieldMask
    request_id: str
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class UpdateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class PauseSessionRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class PauseSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ResumeSessionRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ResumeSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class FinishSessionRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class FinishSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class CancelSessionRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CancelSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("name", "etag", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    etag: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., etag: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchSessionRequest(_message.Message):
    __slots__ = ("name", "resume_token", "new_events_only")
    NAME_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NEW_EVENTS_ONLY_FIELD_NUMBER: _ClassVar[int]
    name: str
    resume_token: str
    new_events_only: bool
    def __init__(self, name: _Optional[str] = ..., resume_token: _Optional[str] = ..., new_events_only: bool = ...) -> None: ...

class WatchSessionResponse(_message.Message):
    __slots__ = ("session", "resume_token", "events")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    session: Session
    resume_token: str
    events: _containers.RepeatedCompositeFieldContainer[_common_pb2.LabelEvent]
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., resume_token: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_common_pb2.LabelEvent, _Mapping]]] = ...) -> None: ...

class ListLabelsRequest(_message.Message):
    __slots__ = ("name", "page_size", "page_token", "newest_first")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NEWEST_FIRST_FIELD_NUMBER: _ClassVar[int]
    name: str
    page_size: int
    page_token: str
    newest_first: bool
    def __init__(self, name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., newest_first: bool = ...) -> None: ...

class ListLabelsResponse(_message.Message):
    __slots__ = ("events", "next_page_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_common_pb2.LabelEvent]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[_common_pb2.LabelEvent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListLabelersRequest(_message.Message):
    __slots__ = ("name", "page_size", "page_token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    page_size: int
    page_token: str
    def __init__(self, name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class LabelerReport(_message.Message):
    __slots__ = ("labeler", "votes", "asked", "unasked", "unused", "retracted", "median_answer_seconds", "compared", "agreement", "repeats", "self_consistency", "withdrawn", "last_answer_time", "control_count", "control_right_count", "control_outlier_count", "control_outlier_right_count", "trust")
    LABELER_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    UNASKED_FIELD_NUMBER: _ClassVar[int]
    UNUSED_FIELD_NUMBER: _ClassVar[int]
    RETRACTED_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_ANSWER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    COMPARED_FIELD_NUMBER: _ClassVar[int]
    AGREEMENT_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    SELF_CONSISTENCY_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    LAST_ANSWER_TIME_FIELD_NUMBER: _ClassVar[int]
    CONTROL_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_RIGHT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_OUTLIER_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_OUTLIER_RIGHT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    labeler: str
    votes: _common_pb2.LabelCounts
    asked: int
    unasked: int
    unused: int
    retracted: int
    median_answer_seconds: float
    compared: int
    agreement: float
    repeats: int
    self_consistency: float
    withdrawn: bool
    last_answer_time: _timestamp_pb2.Timestamp
    control_count: int
    control_right_count: int
    control_outlier_count: int
    control_outlier_right_count: int
    trust: float
    def __init__(self, labeler: _Optional[str] = ..., votes: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., asked: _Optional[int] = ..., unasked: _Optional[int] = ..., unused: _Optional[int] = ..., retracted: _Optional[int] = ..., median_answer_seconds: _Optional[float] = ..., compared: _Optional[int] = ..., agreement: _Optional[float] = ..., repeats: _Optional[int] = ..., self_consistency: _Optional[float] = ..., withdrawn: bool = ..., last_answer_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., control_count: _Optional[int] = ..., control_right_count: _Optional[int] = ..., control_outlier_count: _Optional[int] = ..., control_outlier_right_count: _Optional[int] = ..., trust: _Optional[float] = ...) -> None: ...

class Agreement(_message.Message):
    __slots__ = ("observations", "observed", "cohen_kappa", "fleiss_kappa", "fleiss_observations", "krippendorff_alpha")
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    COHEN_KAPPA_FIELD_NUMBER: _ClassVar[int]
    FLEISS_KAPPA_FIELD_NUMBER: _ClassVar[int]
    FLEISS_OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    KRIPPENDORFF_ALPHA_FIELD_NUMBER: _ClassVar[int]
    observations: int
    observed: float
    cohen_kappa: float
    fleiss_kappa: float
    fleiss_observations: int
    krippendorff_alpha: float
    def __init__(self, observations: _Optional[int] = ..., observed: _Optional[float] = ..., cohen_kappa: _Optional[float] = ..., fleiss_kappa: _Optional[float] = ..., fleiss_observations: _Optional[int] = ..., krippendorff_alpha: _Optional[float] = ...) -> None: ...

class ListLabelersResponse(_message.Message):
    __slots__ = ("labelers", "agreement", "next_page_token")
    LABELERS_FIELD_NUMBER: _ClassVar[int]
    AGREEMENT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    labelers: _containers.RepeatedCompositeFieldContainer[LabelerReport]
    agreement: Agreement
    next_page_token: str
    def __init__(self, labelers: _Optional[_Iterable[_Union[LabelerReport, _Mapping]]] = ..., agreement: _Optional[_Union[Agreement, _Mapping]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetAgreementRequest(_message.Message):
    __slots__ = ("name", "by", "page_size", "page_token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    by: AgreementBy
    page_size: int
    page_token: str
    def __init__(self, name: _Optional[str] = ..., by: _Optional[_Union[AgreementBy, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class AgreementPair(_message.Message):
    __slots__ = ("first", "second", "both_inlier", "both_outlier", "inlier_outlier", "outlier_inlier", "cohen_kappa")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    BOTH_INLIER_FIELD_NUMBER: _ClassVar[int]
    BOTH_OUTLIER_FIELD_NUMBER: _ClassVar[int]
    INLIER_OUTLIER_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_INLIER_FIELD_NUMBER: _ClassVar[int]
    COHEN_KAPPA_FIELD_NUMBER: _ClassVar[int]
    first: str
    second: str
    both_inlier: int
    both_outlier: int
    inlier_outlier: int
    outlier_inlier: int
    cohen_kappa: float
    def __init__(self, first: _Optional[str] = ..., second: _Optional[str] = ..., both_inlier: _Optional[int] = ..., both_outlier: _Optional[int] = ..., inlier_outlier: _Optional[int] = ..., outlier_inlier: _Optional[int] = ..., cohen_kappa: _Optional[float] = ...) -> None: ...

class GetAgreementResponse(_message.Message):
    __slots__ = ("pairs", "next_page_token")
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    pairs: _containers.RepeatedCompositeFieldContainer[AgreementPair]
    next_page_token: str
    def __init__(self, pairs: _Optional[_Iterable[_Union[AgreementPair, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListHistoryRequest(_message.Message):
    __slots__ = ("name", "page_size", "page_token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    page_size: int
    page_token: str
    def __init__(self, name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class HistoryPoint(_message.Message):
    __slots__ = ("labels", "counts", "time", "gamma", "c", "scaling", "quality", "expected", "alignment", "outside_count", "expected_gain", "advice")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_GAIN_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    labels: int
    counts: _common_pb2.LabelCounts
    time: _timestamp_pb2.Timestamp
    gamma: float
    c: float
    scaling: _dataset_pb2.ScalingKind
    quality: _result_pb2.Quality
    expected: float
    alignment: float
    outside_count: int
    expected_gain: float
    advice: str
    def __init__(self, labels: _Optional[int] = ..., counts: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., gamma: _Optional[float] = ..., c: _Optional[float] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., quality: _Optional[_Union[_result_pb2.Quality, _Mapping]] = ..., expected: _Optional[float] = ..., alignment: _Optional[float] = ..., outside_count: _Optional[int] = ..., expected_gain: _Optional[float] = ..., advice: _Optional[str] = ...) -> None: ...

class ListHistoryResponse(_message.Message):
    __slots__ = ("points", "next_page_token")
    POINTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    points: _containers.RepeatedCompositeFieldContainer[HistoryPoint]
    next_page_token: str
    def __init__(self, points: _Optional[_Iterable[_Union[HistoryPoint, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetAtlasRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class AtlasLayer(_message.Message):
    __slots__ = ("scaling", "gammas", "costs", "scores", "outside_counts", "weights")
    SCALING_FIELD_NUMBER: _ClassVar[int]
    GAMMAS_FIELD_NUMBER: _ClassVar[int]
    COSTS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNTS_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    scaling: _dataset_pb2.ScalingKind
    gammas: _containers.RepeatedScalarFieldContainer[float]
    costs: _containers.RepeatedScalarFieldContainer[float]
    scores: _containers.RepeatedScalarFieldContainer[float]
    outside_counts: _containers.RepeatedScalarFieldContainer[int]
    weights: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., gammas: _Optional[_Iterable[float]] = ..., costs: _Optional[_Iterable[float]] = ..., scores: _Optional[_Iterable[float]] = ..., outside_counts: _Optional[_Iterable[int]] = ..., weights: _Optional[_Iterable[float]] = ...) -> None: ...

class GetAtlasResponse(_message.Message):
    __slots__ = ("labels", "layers")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    labels: int
    layers: _containers.RepeatedCompositeFieldContainer[AtlasLayer]
    def __init__(self, labels: _Optional[int] = ..., layers: _Optional[_Iterable[_Union[AtlasLayer, _Mapping]]] = ...) -> None: ...

class GetMapRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetMapResponse(_message.Message):
    __slots__ = ("labels", "rows", "x", "y", "margins", "method", "explained_share", "observation_ids", "inlier_rows", "outlier_rows", "unsure_rows")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    MARGINS_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    EXPLAINED_SHARE_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_IDS_FIELD_NUMBER: _ClassVar[int]
    INLIER_ROWS_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_ROWS_FIELD_NUMBER: _ClassVar[int]
    UNSURE_ROWS_FIELD_NUMBER: _ClassVar[int]
    labels: int
    rows: _containers.RepeatedScalarFieldContainer[int]
    x: _containers.RepeatedScalarFieldContainer[float]
    y: _containers.RepeatedScalarFieldContainer[float]
    margins: _containers.RepeatedScalarFieldContainer[float]
    method: str
    explained_share: float
    observation_ids: _containers.RepeatedScalarFieldContainer[str]
    inlier_rows: _containers.RepeatedScalarFieldContainer[int]
    outlier_rows: _containers.RepeatedScalarFieldContainer[int]
    unsure_rows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, labels: _Optional[int] = ..., rows: _Optional[_Iterable[int]] = ..., x: _Optional[_Iterable[float]] = ..., y: _Optional[_Iterable[float]] = ..., margins: _Optional[_Iterable[float]] = ..., method: _Optional[str] = ..., explained_share: _Optional[float] = ..., observation_ids: _Optional[_Iterable[str]] = ..., inlier_rows: _Optional[_Iterable[int]] = ..., outlier_rows: _Optional[_Iterable[int]] = ..., unsure_rows: _Optional[_Iterable[int]] = ...) -> None: ...

class WithdrawLabelerRequest(_message.Message):
    __slots__ = ("name", "labeler", "validate_only", "etag", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    labeler: str
    validate_only: bool
    etag: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., labeler: _Optional[str] = ..., validate_only: bool = ..., etag: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class WithdrawalEffect(_message.Message):
    __slots__ = ("votes", "labels_lost", "labels_changed", "labels_gained", "queries_reopened", "counts_before", "counts_after", "live_before", "live_after")
    VOTES_FIELD_NUMBER: _ClassVar[int]
    LABELS_LOST_FIELD_NUMBER: _ClassVar[int]
    LABELS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    LABELS_GAINED_FIELD_NUMBER: _ClassVar[int]
    QUERIES_REOPENED_FIELD_NUMBER: _ClassVar[int]
    COUNTS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_AFTER_FIELD_NUMBER: _ClassVar[int]
    LIVE_BEFORE_FIELD_NUMBER: _ClassVar[int]
    LIVE_AFTER_FIELD_NUMBER: _ClassVar[int]
    votes: int
    labels_lost: int
    labels_changed: int
    labels_gained: int
    queries_reopened: int
    counts_before: _common_pb2.LabelCounts
    counts_after: _common_pb2.LabelCounts
    live_before: LiveEvidence
    live_after: LiveEvidence
    def __init__(self, votes: _Optional[int] = ..., labels_lost: _Optional[int] = ..., labels_changed: _Optional[int] = ..., labels_gained: _Optional[int] = ..., queries_reopened: _Optional[int] = ..., counts_before: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., counts_after: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., live_before: _Optional[_Union[LiveEvidence, _Mapping]] = ..., live_after: _Optional[_Union[LiveEvidence, _Mapping]] = ...) -> None: ...

class WithdrawLabelerResponse(_message.Message):
    __slots__ = ("session", "effect")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    session: Session
    effect: WithdrawalEffect
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., effect: _Optional[_Union[WithdrawalEffect, _Mapping]] = ...) -> None: ...

class ReinstateLabelerRequest(_message.Message):
    __slots__ = ("name", "labeler", "etag", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    labeler: str
    etag: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., labeler: _Optional[str] = ..., etag: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ReinstateLabelerResponse(_message.Message):
    __slots__ = ("session", "effect")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    session: Session
    effect: WithdrawalEffect
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., effect: _Optional[_Union[WithdrawalEffect, _Mapping]] = ...) -> None: ...

class ReopenObservationRequest(_message.Message):
    __slots__ = ("name", "observation_id", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    observation_id: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., observation_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ReopenObservationResponse(_message.Message):
    __slots__ = ("session", "query", "retracted_votes")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RETRACTED_VOTES_FIELD_NUMBER: _ClassVar[int]
    session: Session
    query: int
    retracted_votes: int
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., query: _Optional[int] = ..., retracted_votes: _Optional[int] = ...) -> None: ...

class GetResultRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetResultResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _result_pb2.TuningResult
    def __init__(self, result: _Optional[_Union[_result_pb2.TuningResult, _Mapping]] = ...) -> None: ...

class ListResultsRequest(_message.Message):
    __slots__ = ("parent", "page_size", "page_token")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    parent: str
    page_size: int
    page_token: str
    def __init__(self, parent: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListResultsResponse(_message.Message):
    __slots__ = ("results", "next_page_token")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_result_pb2.TuningResult]
    next_page_token: str
    def __init__(self, results: _Optional[_Iterable[_Union[_result_pb2.TuningResult, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ExportModelRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ExportModelResponse(_message.Message):
    __slots__ = ("header", "support_vectors", "scaling", "profile", "refined")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_VECTORS_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    REFINED_FIELD_NUMBER: _ClassVar[int]
    header: _result_pb2.ModelHeader
    support_vectors: _result_pb2.SupportVectorChunk
    scaling: _dataset_pb2.ScalingChunk
    profile: _result_pb2.ProfileChunk
    refined: _result_pb2.RefinedChunk
    def __init__(self, header: _Optional[_Union[_result_pb2.ModelHeader, _Mapping]] = ..., support_vectors: _Optional[_Union[_result_pb2.SupportVectorChunk, _Mapping]] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingChunk, _Mapping]] = ..., profile: _Optional[_Union[_result_pb2.ProfileChunk, _Mapping]] = ..., refined: _Optional[_Union[_result_pb2.RefinedChunk, _Mapping]] = ...) -> None: ...
