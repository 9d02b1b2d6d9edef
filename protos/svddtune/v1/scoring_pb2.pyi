import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.api import field_behavior_pb2 as _field_behavior_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from svddtune.v1 import common_pb2 as _common_pb2
from svddtune.v1 import oracle_pb2 as _oracle_pb2
from svddtune.v1 import result_pb2 as _result_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Row(_message.Message):
    __slots__ = ("values", "by_name")
    class ByNameEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    VALUES_FIELD_NUMBER: _ClassVar[int]
    BY_NAME_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    by_name: _containers.ScalarMap[str, float]
    def __init__(self, values: _Optional[_Iterable[float]] = ..., by_name: _Optional[_Mapping[str, float]] = ...) -> None: ...

class RowScore(_message.Message):
    __slots__ = ("verdict", "distance", "probability", "refined_score", "reasons")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    DISTANCE_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    REFINED_SCORE_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    verdict: _common_pb2.Verdict
    distance: float
    probability: float
    refined_score: float
    reasons: _containers.RepeatedCompositeFieldContainer[_oracle_pb2.UnusualFeature]
    def __init__(self, verdict: _Optional[_Union[_common_pb2.Verdict, str]] = ..., distance: _Optional[float] = ..., probability: _Optional[float] = ..., refined_score: _Optional[float] = ..., reasons: _Optional[_Iterable[_Union[_oracle_pb2.UnusualFeature, _Mapping]]] = ...) -> None: ...

class ScoreRequest(_message.Message):
    __slots__ = ("model", "detector", "reason_count", "feature_names", "matrix", "rows", "dataset_rows")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DETECTOR_FIELD_NUMBER: _ClassVar[int]
    REASON_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    MATRIX_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    DATASET_ROWS_FIELD_NUMBER: _ClassVar[int]
    model: str
    detector: _result_pb2.Detector
    reason_count: int
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    matrix: _common_pb2.Matrix
    rows: _containers.RepeatedCompositeFieldContainer[Row]
    dataset_rows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, model: _Optional[str] = ..., detector: _Optional[_Union[_result_pb2.Detector, str]] = ..., reason_count: _Optional[int] = ..., feature_names: _Optional[_Iterable[str]] = ..., matrix: _Optional[_Union[_common_pb2.Matrix, _Mapping]] = ..., rows: _Optional[_Iterable[_Union[Row, _Mapping]]] = ..., dataset_rows: _Optional[_Iterable[int]] = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ("model", "scores")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    model: str
    scores: _containers.RepeatedCompositeFieldContainer[RowScore]
    def __init__(self, model: _Optional[str] = ..., scores: _Optional[_Iterable[_Union[RowScore, _Mapping]]] = ...) -> None: ...

class ScoreStreamHeader(_message.Message):
    __slots__ = ("model", "detector", "reason_count", "feature_names")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DETECTOR_FIELD_NUMBER: _ClassVar[int]
    REASON_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    model: str
    detector: _result_pb2.Detector
    reason_count: int
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model: _Optional[str] = ..., detector: _Optional[_Union[_result_pb2.Detector, str]] = ..., reason_count: _Optional[int] = ..., feature_names: _Optional[_Iterable[str]] = ...) -> None: ...

class ScoreStreamRequest(_message.Message):
    __slots__ = ("header", "matrix", "rows")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    MATRIX_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    header: ScoreStreamHeader
    matrix: _common_pb2.Matrix
    rows: _containers.RepeatedCompositeFieldContainer[Row]
    def __init__(self, header: _Optional[_Union[ScoreStreamHeader, _Mapping]] = ..., matrix: _Optional[_Union[_common_pb2.Matrix, _Mapping]] = ..., rows: _Optional[_Iterable[_Union[Row, _Mapping]]] = ...) -> None: ...

class ScoreStreamResponse(_message.Message):
    __slots__ = ("model", "first_row", "scores")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    model: str
    first_row: int
    scores: _containers.RepeatedCompositeFieldContainer[RowScore]
    def __init__(self, model: _Optional[str] = ..., first_row: _Optional[int] = ..., scores: _Optional[_Iterable[_Union[RowScore, _Mapping]]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("name", "feature_count", "feature_names", "support_vector_count", "has_refined", "has_profile", "expire_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FEATURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    HAS_REFINED_FIELD_NUMBER: _ClassVar[int]
    HAS_PROFILE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    feature_count: int
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    support_vector_count: int
    has_refined: bool
    has_profile: bool
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., feature_count: _Optional[int] = ..., feature_names: _Optional[_Iterable[str]] = ..., support_vector_count: _Optional[int] = ..., has_refined: bool = ..., has_profile: bool = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ModelUploadHeader(_message.Message):
    __slots__ = ("ttl_seconds",)
    TTL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    ttl_seconds: float
    def __init__(self, ttl_seconds: _Optional[float] = ...) -> None: ...

class UploadModelRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: ModelUploadHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[ModelUploadHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class UploadModelResponse(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: Model
    def __init__(self, model: _Optional[_Union[Model, _Mapping]] = ...) -> None: ...

class GetModelRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetModelResponse(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: Model
    def __init__(self, model: _Optional[_Union[Model, _Mapping]] = ...) -> None: ...

class DownloadModelRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DownloadModelResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...

class DeleteModelRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DeleteModelResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
