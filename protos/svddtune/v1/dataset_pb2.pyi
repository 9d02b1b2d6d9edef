import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.api import field_behavior_pb2 as _field_behavior_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from svddtune.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ScalingKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCALING_KIND_UNSPECIFIED: _ClassVar[ScalingKind]
    SCALING_KIND_NONE: _ClassVar[ScalingKind]
    SCALING_KIND_MINMAX: _ClassVar[ScalingKind]
    SCALING_KIND_ROBUST: _ClassVar[ScalingKind]
    SCALING_KIND_AUTO: _ClassVar[ScalingKind]
    SCALING_KIND_STANDARD: _ClassVar[ScalingKind]
    SCALING_KIND_RANKS: _ClassVar[ScalingKind]
    SCALING_KIND_NORMAL: _ClassVar[ScalingKind]
    SCALING_KIND_WHITENED: _ClassVar[ScalingKind]
    SCALING_KIND_ASINH: _ClassVar[ScalingKind]
SCALING_KIND_UNSPECIFIED: ScalingKind
SCALING_KIND_NONE: ScalingKind
SCALING_KIND_MINMAX: ScalingKind
SCALING_KIND_ROBUST: ScalingKind
SCALING_KIND_AUTO: ScalingKind
SCALING_KIND_STANDARD: ScalingKind
SCALING_KIND_RANKS: ScalingKind
SCALING_KIND_NORMAL: ScalingKind
SCALING_KIND_WHITENED: ScalingKind
SCALING_KIND_ASINH: ScalingKind

class Scaling(_message.Message):
    __slots__ = ("kind", "offset", "scale", "map_count", "rotation_columns")
    KIND_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MAP_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROTATION_COLUMNS_FIELD_NUMBER: _ClassVar[int]
    kind: ScalingKind
    offset: _containers.RepeatedScalarFieldContainer[float]
    scale: _containers.RepeatedScalarFieldContainer[float]
    map_count: int
    rotation_columns: int
    def __init__(self, kind: _Optional[_Union[ScalingKind, str]] = ..., offset: _Optional[_Iterable[float]] = ..., scale: _Optional[_Iterable[float]] = ..., map_count: _Optional[int] = ..., rotation_columns: _Optional[int] = ...) -> None: ...

class ColumnMap(_message.Message):
    __slots__ = ("column", "knots", "values")
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    KNOTS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    column: int
    knots: _containers.RepeatedScalarFieldContainer[float]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, column: _Optional[int] = ..., knots: _Optional[_Iterable[float]] = ..., values: _Optional[_Iterable[float]] = ...) -> None: ...

class ScalingChunk(_message.Message):
    __slots__ = ("maps", "rotation")
    MAPS_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    maps: _containers.RepeatedCompositeFieldContainer[ColumnMap]
    rotation: _common_pb2.Matrix
    def __init__(self, maps: _Optional[_Iterable[_Union[ColumnMap, _Mapping]]] = ..., rotation: _Optional[_Union[_common_pb2.Matrix, _Mapping]] = ...) -> None: ...

class Dataset(_message.Message):
    __slots__ = ("name", "display_name", "observation_count", "feature_count", "feature_names", "scaling", "content_hash", "duplicate_row_count", "constant_columns", "create_time", "session_count", "labels", "expire_time")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_COLUMNS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    SESSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    display_name: str
    observation_count: int
    feature_count: int
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    scaling: ScalingKind
    content_hash: str
    duplicate_row_count: int
    constant_columns: _containers.RepeatedScalarFieldContainer[int]
    create_time: _timestamp_pb2.Timestamp
    session_count: int
    labels: _containers.ScalarMap[str, str]
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., display_name: _Optional[str] = ..., observation_count: _Optional[int] = ..., feature_count: _Optional[int] = ..., feature_names: _Optional[_Iterable[str]] = ..., scaling: _Optional[_Union[ScalingKind, str]] = ..., content_hash: _Optional[str] = ..., duplicate_row_count: _Optional[int] = ..., constant_columns: _Optional[_Iterable[int]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., session_count: _Optional[int] = ..., labels: _Optional[_Mapping[str, str]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DatasetHeader(_message.Message):
    __slots__ = ("display_name", "observation_count", "feature_count", "feature_names", "scaling", "upload_id", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    display_name: str
    observation_count: int
    feature_count: int
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    scaling: ScalingKind
    upload_id: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, display_name: _Optional[str] = ..., observation_count: _Optional[int] = ..., feature_count: _Optional[int] = ..., feature_names: _Optional[_Iterable[str]] = ..., scaling: _Optional[_Union[ScalingKind, str]] = ..., upload_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class DatasetChunk(_message.Message):
    __slots__ = ("rows", "observation_ids", "displays", "first_row")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_IDS_FIELD_NUMBER: _ClassVar[int]
    DISPLAYS_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    rows: _common_pb2.Matrix
    observation_ids: _containers.RepeatedScalarFieldContainer[str]
    displays: _containers.RepeatedCompositeFieldContainer[Display]
    first_row: int
    def __init__(self, rows: _Optional[_Union[_common_pb2.Matrix, _Mapping]] = ..., observation_ids: _Optional[_Iterable[str]] = ..., displays: _Optional[_Iterable[_Union[Display, _Mapping]]] = ..., first_row: _Optional[int] = ...) -> None: ...

class Display(_message.Message):
    __slots__ = ("fields",)
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedCompositeFieldContainer[_common_pb2.DisplayField]
    def __init__(self, fields: _Optional[_Iterable[_Union[_common_pb2.DisplayField, _Mapping]]] = ...) -> None: ...

class UploadDatasetRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: DatasetHeader
    chunk: DatasetChunk
    def __init__(self, header: _Optional[_Union[DatasetHeader, _Mapping]] = ..., chunk: _Optional[_Union[DatasetChunk, _Mapping]] = ...) -> None: ...

class UploadDatasetResponse(_message.Message):
    __slots__ = ("dataset", "already_existed")
    DATASET_FIELD_NUMBER: _ClassVar[int]
    ALREADY_EXISTED_FIELD_NUMBER: _ClassVar[int]
    dataset: Dataset
    already_existed: bool
    def __init__(self, dataset: _Optional[_Union[Dataset, _Mapping]] = ..., already_existed: bool = ...) -> None: ...

class GetUploadRequest(_message.Message):
    __slots__ = ("upload_id",)
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    upload_id: str
    def __init__(self, upload_id: _Optional[str] = ...) -> None: ...

class GetUploadResponse(_message.Message):
    __slots__ = ("row_count", "dataset")
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    row_count: int
    dataset: Dataset
    def __init__(self, row_count: _Optional[int] = ..., dataset: _Optional[_Union[Dataset, _Mapping]] = ...) -> None: ...

class GetDatasetRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetDatasetResponse(_message.Message):
    __slots__ = ("dataset",)
    DATASET_FIELD_NUMBER: _ClassVar[int]
    dataset: Dataset
    def __init__(self, dataset: _Optional[_Union[Dataset, _Mapping]] = ...) -> None: ...

class ListDatasetsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "display_name", "labels")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    display_name: str
    labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., display_name: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ...) -> None: ...

class ListDatasetsResponse(_message.Message):
    __slots__ = ("datasets", "next_page_token")
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[Dataset]
    next_page_token: str
    def __init__(self, datasets: _Optional[_Iterable[_Union[Dataset, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteDatasetRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteDatasetResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListObservationsRequest(_message.Message):
    __slots__ = ("parent", "page_size", "page_token", "rows")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    parent: str
    page_size: int
    page_token: str
    rows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, parent: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., rows: _Optional[_Iterable[int]] = ...) -> None: ...

class Observation(_message.Message):
    __slots__ = ("row", "observation_id", "display")
    ROW_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    row: int
    observation_id: str
    display: _containers.RepeatedCompositeFieldContainer[_common_pb2.DisplayField]
    def __init__(self, row: _Optional[int] = ..., observation_id: _Optional[str] = ..., display: _Optional[_Iterable[_Union[_common_pb2.DisplayField, _Mapping]]] = ...) -> None: ...

class ListObservationsResponse(_message.Message):
    __slots__ = ("observations", "next_page_token")
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    observations: _containers.RepeatedCompositeFieldContainer[Observation]
    next_page_token: str
    def __init__(self, observations: _Optional[_Iterable[_Union[Observation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
