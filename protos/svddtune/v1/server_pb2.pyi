import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Feature(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FEATURE_UNSPECIFIED: _ClassVar[Feature]
    FEATURE_RESUMABLE_UPLOADS: _ClassVar[Feature]
    FEATURE_ANSWER_BATCH: _ClassVar[Feature]
    FEATURE_DATASET_STORE: _ClassVar[Feature]

class CallerRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALLER_ROLE_UNSPECIFIED: _ClassVar[CallerRole]
    CALLER_ROLE_VIEWER: _ClassVar[CallerRole]
    CALLER_ROLE_LABELER: _ClassVar[CallerRole]
    CALLER_ROLE_TUNER: _ClassVar[CallerRole]
    CALLER_ROLE_ADMIN: _ClassVar[CallerRole]
FEATURE_UNSPECIFIED: Feature
FEATURE_RESUMABLE_UPLOADS: Feature
FEATURE_ANSWER_BATCH: Feature
FEATURE_DATASET_STORE: Feature
CALLER_ROLE_UNSPECIFIED: CallerRole
CALLER_ROLE_VIEWER: CallerRole
CALLER_ROLE_LABELER: CallerRole
CALLER_ROLE_TUNER: CallerRole
CALLER_ROLE_ADMIN: CallerRole

class ServerLimits(_message.Message):
    __slots__ = ("message_bytes", "observation_count", "feature_count", "sessions_per_stream", "credit", "answers_per_batch", "hello_seconds", "stream_seconds", "wait_seconds")
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_PER_STREAM_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_PER_BATCH_FIELD_NUMBER: _ClassVar[int]
    HELLO_SECONDS_FIELD_NUMBER: _ClassVar[int]
    STREAM_SECONDS_FIELD_NUMBER: _ClassVar[int]
    WAIT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    message_bytes: int
    observation_count: int
    feature_count: int
    sessions_per_stream: int
    credit: int
    answers_per_batch: int
    hello_seconds: float
    stream_seconds: float
    wait_seconds: float
    def __init__(self, message_bytes: _Optional[int] = ..., observation_count: _Optional[int] = ..., feature_count: _Optional[int] = ..., sessions_per_stream: _Optional[int] = ..., credit: _Optional[int] = ..., answers_per_batch: _Optional[int] = ..., hello_seconds: _Optional[float] = ..., stream_seconds: _Optional[float] = ..., wait_seconds: _Optional[float] = ...) -> None: ...

class ServerReadiness(_message.Message):
    __slots__ = ("ready", "message", "worker_count")
    READY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    ready: bool
    message: str
    worker_count: int
    def __init__(self, ready: bool = ..., message: _Optional[str] = ..., worker_count: _Optional[int] = ...) -> None: ...

class ServerDurability(_message.Message):
    __slots__ = ("survives_crash", "survives_failover", "replica_count", "min_replicas", "message")
    SURVIVES_CRASH_FIELD_NUMBER: _ClassVar[int]
    SURVIVES_FAILOVER_FIELD_NUMBER: _ClassVar[int]
    REPLICA_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_REPLICAS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    survives_crash: bool
    survives_failover: bool
    replica_count: int
    min_replicas: int
    message: str
    def __init__(self, survives_crash: bool = ..., survives_failover: bool = ..., replica_count: _Optional[int] = ..., min_replicas: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class ServerCaller(_message.Message):
    __slots__ = ("name", "project", "role")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    project: str
    role: CallerRole
    def __init__(self, name: _Optional[str] = ..., project: _Optional[str] = ..., role: _Optional[_Union[CallerRole, str]] = ...) -> None: ...

class SignIn(_message.Message):
    __slots__ = ("issuer", "client_id", "scopes")
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    issuer: str
    client_id: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, issuer: _Optional[str] = ..., client_id: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ...) -> None: ...

class GetServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ("version", "min_protocol_version", "max_protocol_version", "features", "limits", "readiness", "caller", "durability", "sign_in")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    MIN_PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    MAX_PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    READINESS_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_FIELD_NUMBER: _ClassVar[int]
    SIGN_IN_FIELD_NUMBER: _ClassVar[int]
    version: str
    min_protocol_version: int
    max_protocol_version: int
    features: _containers.RepeatedScalarFieldContainer[Feature]
    limits: ServerLimits
    readiness: ServerReadiness
    caller: ServerCaller
    durability: ServerDurability
    sign_in: SignIn
    def __init__(self, version: _Optional[str] = ..., min_protocol_version: _Optional[int] = ..., max_protocol_version: _Optional[int] = ..., features: _Optional[_Iterable[_Union[Feature, str]]] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ..., readiness: _Optional[_Union[ServerReadiness, _Mapping]] = ..., caller: _Optional[_Union[ServerCaller, _Mapping]] = ..., durability: _Optional[_Union[ServerDurability, _Mapping]] = ..., sign_in: _Optional[_Union[SignIn, _Mapping]] = ...) -> None: ...

class GetLoadRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WorkerLoad(_message.Message):
    __slots__ = ("name", "last_seen", "job", "memory_bytes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LAST_SEEN_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    name: str
    last_seen: _timestamp_pb2.Timestamp
    job: str
    memory_bytes: int
    def __init__(self, name: _Optional[str] = ..., last_seen: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., job: _Optional[str] = ..., memory_bytes: _Optional[int] = ...) -> None: ...

class GetLoadResponse(_message.Message):
    __slots__ = ("workers", "urgent_jobs", "bulk_jobs", "running_jobs", "given_up_jobs")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    URGENT_JOBS_FIELD_NUMBER: _ClassVar[int]
    BULK_JOBS_FIELD_NUMBER: _ClassVar[int]
    RUNNING_JOBS_FIELD_NUMBER: _ClassVar[int]
    GIVEN_UP_JOBS_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[WorkerLoad]
    urgent_jobs: int
    bulk_jobs: int
    running_jobs: int
    given_up_jobs: int
    def __init__(self, workers: _Optional[_Iterable[_Union[WorkerLoad, _Mapping]]] = ..., urgent_jobs: _Optional[int] = ..., bulk_jobs: _Optional[int] = ..., running_jobs: _Optional[int] = ..., given_up_jobs: _Optional[int] = ...) -> None: ...
