import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from svddtune.v1 import common_pb2 as _common_pb2
from svddtune.v1 import config_pb2 as _config_pb2
from svddtune.v1 import dataset_pb2 as _dataset_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Detector(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DETECTOR_UNSPECIFIED: _ClassVar[Detector]
    DETECTOR_SVDD: _ClassVar[Detector]
    DETECTOR_REFINED: _ClassVar[Detector]

class Choice(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHOICE_UNSPECIFIED: _ClassVar[Choice]
    CHOICE_ALIGNMENT: _ClassVar[Choice]
    CHOICE_ATLAS: _ClassVar[Choice]

class ElementType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ELEMENT_TYPE_UNSPECIFIED: _ClassVar[ElementType]
    ELEMENT_TYPE_FLOAT64: _ClassVar[ElementType]
    ELEMENT_TYPE_FLOAT32: _ClassVar[ElementType]
    ELEMENT_TYPE_INT32: _ClassVar[ElementType]
    ELEMENT_TYPE_INT64: _ClassVar[ElementType]
    ELEMENT_TYPE_TEXT: _ClassVar[ElementType]
DETECTOR_UNSPECIFIED: Detector
DETECTOR_SVDD: Detector
DETECTOR_REFINED: Detector
CHOICE_UNSPECIFIED: Choice
CHOICE_ALIGNMENT: Choice
CHOICE_ATLAS: Choice
ELEMENT_TYPE_UNSPECIFIED: ElementType
ELEMENT_TYPE_FLOAT64: ElementType
ELEMENT_TYPE_FLOAT32: ElementType
ELEMENT_TYPE_INT32: ElementType
ELEMENT_TYPE_INT64: ElementType
ELEMENT_TYPE_TEXT: ElementType

class Quality(_message.Message):
    __slots__ = ("metric", "value", "interval", "counts", "kind")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Quality.Kind]
        KIND_QUERIED: _ClassVar[Quality.Kind]
        KIND_AUDIT: _ClassVar[Quality.Kind]
        KIND_HELD_OUT: _ClassVar[Quality.Kind]
    KIND_UNSPECIFIED: Quality.Kind
    KIND_QUERIED: Quality.Kind
    KIND_AUDIT: Quality.Kind
    KIND_HELD_OUT: Quality.Kind
    METRIC_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    metric: _config_pb2.Metric
    value: float
    interval: _common_pb2.Interval
    counts: _common_pb2.LabelCounts
    kind: Quality.Kind
    def __init__(self, metric: _Optional[_Union[_config_pb2.Metric, str]] = ..., value: _Optional[float] = ..., interval: _Optional[_Union[_common_pb2.Interval, _Mapping]] = ..., counts: _Optional[_Union[_common_pb2.LabelCounts, _Mapping]] = ..., kind: _Optional[_Union[Quality.Kind, str]] = ...) -> None: ...

class OutlierShare(_message.Message):
    __slots__ = ("value", "interval", "method", "labels")
    class Method(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        METHOD_UNSPECIFIED: _ClassVar[OutlierShare.Method]
        METHOD_BELIEF: _ClassVar[OutlierShare.Method]
        METHOD_AUDIT: _ClassVar[OutlierShare.Method]
    METHOD_UNSPECIFIED: OutlierShare.Method
    METHOD_BELIEF: OutlierShare.Method
    METHOD_AUDIT: OutlierShare.Method
    VALUE_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    value: float
    interval: _common_pb2.Interval
    method: OutlierShare.Method
    labels: int
    def __init__(self, value: _Optional[float] = ..., interval: _Optional[_Union[_common_pb2.Interval, _Mapping]] = ..., method: _Optional[_Union[OutlierShare.Method, str]] = ..., labels: _Optional[int] = ...) -> None: ...

class GridCell(_message.Message):
    __slots__ = ("c", "nu", "score", "outside_count", "support_vector_count", "r2", "degenerate")
    C_FIELD_NUMBER: _ClassVar[int]
    NU_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    R2_FIELD_NUMBER: _ClassVar[int]
    DEGENERATE_FIELD_NUMBER: _ClassVar[int]
    c: float
    nu: float
    score: float
    outside_count: int
    support_vector_count: int
    r2: float
    degenerate: bool
    def __init__(self, c: _Optional[float] = ..., nu: _Optional[float] = ..., score: _Optional[float] = ..., outside_count: _Optional[int] = ..., support_vector_count: _Optional[int] = ..., r2: _Optional[float] = ..., degenerate: bool = ...) -> None: ...

class AlignmentPoint(_message.Message):
    __slots__ = ("gamma", "alignment")
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    gamma: float
    alignment: float
    def __init__(self, gamma: _Optional[float] = ..., alignment: _Optional[float] = ...) -> None: ...

class Comparison(_message.Message):
    __slots__ = ("name", "gamma", "nu", "score", "outside_count", "best_c_score", "sample_size", "outside", "scaling")
    NAME_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    NU_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    BEST_C_SCORE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_SIZE_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    name: str
    gamma: float
    nu: float
    score: float
    outside_count: int
    best_c_score: float
    sample_size: int
    outside: bytes
    scaling: _dataset_pb2.ScalingKind
    def __init__(self, name: _Optional[str] = ..., gamma: _Optional[float] = ..., nu: _Optional[float] = ..., score: _Optional[float] = ..., outside_count: _Optional[int] = ..., best_c_score: _Optional[float] = ..., sample_size: _Optional[int] = ..., outside: _Optional[bytes] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ...) -> None: ...

class DetectorComparison(_message.Message):
    __slots__ = ("svdd", "refined", "difference", "better", "labels")
    SVDD_FIELD_NUMBER: _ClassVar[int]
    REFINED_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    BETTER_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    svdd: Quality
    refined: Quality
    difference: _common_pb2.Interval
    better: Detector
    labels: int
    def __init__(self, svdd: _Optional[_Union[Quality, _Mapping]] = ..., refined: _Optional[_Union[Quality, _Mapping]] = ..., difference: _Optional[_Union[_common_pb2.Interval, _Mapping]] = ..., better: _Optional[_Union[Detector, str]] = ..., labels: _Optional[int] = ...) -> None: ...

class RefinedResult(_message.Message):
    __slots__ = ("comparison", "outside_count")
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    comparison: DetectorComparison
    outside_count: int
    def __init__(self, comparison: _Optional[_Union[DetectorComparison, _Mapping]] = ..., outside_count: _Optional[int] = ...) -> None: ...

class Manifest(_message.Message):
    __slots__ = ("versions", "dataset_hash", "seed", "last_event_id", "labeled_rows", "verdicts", "query_rows", "kernel_mean_sample", "fit_sample", "provenances", "config", "scaling", "base_scaling", "atlas_scalings", "belief_scaling", "certainties", "origins")
    class VersionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ProvenancesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class OriginsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    DATASET_HASH_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELED_ROWS_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    QUERY_ROWS_FIELD_NUMBER: _ClassVar[int]
    KERNEL_MEAN_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    FIT_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCES_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    BASE_SCALING_FIELD_NUMBER: _ClassVar[int]
    ATLAS_SCALINGS_FIELD_NUMBER: _ClassVar[int]
    BELIEF_SCALING_FIELD_NUMBER: _ClassVar[int]
    CERTAINTIES_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.ScalarMap[str, str]
    dataset_hash: str
    seed: int
    last_event_id: str
    labeled_rows: _containers.RepeatedScalarFieldContainer[int]
    verdicts: _containers.RepeatedScalarFieldContainer[_common_pb2.Verdict]
    query_rows: _containers.RepeatedScalarFieldContainer[int]
    kernel_mean_sample: int
    fit_sample: int
    provenances: _containers.ScalarMap[str, int]
    config: _config_pb2.SessionConfig
    scaling: _dataset_pb2.ScalingKind
    base_scaling: _dataset_pb2.ScalingKind
    atlas_scalings: _containers.RepeatedScalarFieldContainer[_dataset_pb2.ScalingKind]
    belief_scaling: _dataset_pb2.ScalingKind
    certainties: _containers.RepeatedScalarFieldContainer[float]
    origins: _containers.ScalarMap[str, int]
    def __init__(self, versions: _Optional[_Mapping[str, str]] = ..., dataset_hash: _Optional[str] = ..., seed: _Optional[int] = ..., last_event_id: _Optional[str] = ..., labeled_rows: _Optional[_Iterable[int]] = ..., verdicts: _Optional[_Iterable[_Union[_common_pb2.Verdict, str]]] = ..., query_rows: _Optional[_Iterable[int]] = ..., kernel_mean_sample: _Optional[int] = ..., fit_sample: _Optional[int] = ..., provenances: _Optional[_Mapping[str, int]] = ..., config: _Optional[_Union[_config_pb2.SessionConfig, _Mapping]] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., base_scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., atlas_scalings: _Optional[_Iterable[_Union[_dataset_pb2.ScalingKind, str]]] = ..., belief_scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., certainties: _Optional[_Iterable[float]] = ..., origins: _Optional[_Mapping[str, int]] = ...) -> None: ...

class TuningResult(_message.Message):
    __slots__ = ("name", "gamma", "c", "nu", "c_min", "c_max", "quality", "c_curve", "alignment_curve", "comparisons", "manifest", "notes", "outside_count", "support_vector_count", "create_time", "estimate_seconds", "audit", "choice", "scaling", "refined", "outlier_share", "expected_gain")
    NAME_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    NU_FIELD_NUMBER: _ClassVar[int]
    C_MIN_FIELD_NUMBER: _ClassVar[int]
    C_MAX_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    C_CURVE_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_CURVE_FIELD_NUMBER: _ClassVar[int]
    COMPARISONS_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ESTIMATE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    REFINED_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_SHARE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_GAIN_FIELD_NUMBER: _ClassVar[int]
    name: str
    gamma: float
    c: float
    nu: float
    c_min: float
    c_max: float
    quality: Quality
    c_curve: _containers.RepeatedCompositeFieldContainer[GridCell]
    alignment_curve: _containers.RepeatedCompositeFieldContainer[AlignmentPoint]
    comparisons: _containers.RepeatedCompositeFieldContainer[Comparison]
    manifest: Manifest
    notes: _containers.RepeatedScalarFieldContainer[str]
    outside_count: int
    support_vector_count: int
    create_time: _timestamp_pb2.Timestamp
    estimate_seconds: float
    audit: Quality
    choice: Choice
    scaling: _dataset_pb2.ScalingKind
    refined: RefinedResult
    outlier_share: OutlierShare
    expected_gain: float
    def __init__(self, name: _Optional[str] = ..., gamma: _Optional[float] = ..., c: _Optional[float] = ..., nu: _Optional[float] = ..., c_min: _Optional[float] = ..., c_max: _Optional[float] = ..., quality: _Optional[_Union[Quality, _Mapping]] = ..., c_curve: _Optional[_Iterable[_Union[GridCell, _Mapping]]] = ..., alignment_curve: _Optional[_Iterable[_Union[AlignmentPoint, _Mapping]]] = ..., comparisons: _Optional[_Iterable[_Union[Comparison, _Mapping]]] = ..., manifest: _Optional[_Union[Manifest, _Mapping]] = ..., notes: _Optional[_Iterable[str]] = ..., outside_count: _Optional[int] = ..., support_vector_count: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., estimate_seconds: _Optional[float] = ..., audit: _Optional[_Union[Quality, _Mapping]] = ..., choice: _Optional[_Union[Choice, str]] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ..., refined: _Optional[_Union[RefinedResult, _Mapping]] = ..., outlier_share: _Optional[_Union[OutlierShare, _Mapping]] = ..., expected_gain: _Optional[float] = ...) -> None: ...

class ModelHeader(_message.Message):
    __slots__ = ("gamma", "c", "nu", "r2", "center_norm2", "tolerance", "scaling", "feature_names", "feature_count", "support_vector_count", "check_rows", "check_distance2", "result", "observation_count", "dataset_hash", "sklearn_nu", "degenerate", "refined_array_count", "check_probability")
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    NU_FIELD_NUMBER: _ClassVar[int]
    R2_FIELD_NUMBER: _ClassVar[int]
    CENTER_NORM2_FIELD_NUMBER: _ClassVar[int]
    TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    FEATURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHECK_ROWS_FIELD_NUMBER: _ClassVar[int]
    CHECK_DISTANCE2_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    DATASET_HASH_FIELD_NUMBER: _ClassVar[int]
    SKLEARN_NU_FIELD_NUMBER: _ClassVar[int]
    DEGENERATE_FIELD_NUMBER: _ClassVar[int]
    REFINED_ARRAY_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHECK_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    gamma: float
    c: float
    nu: float
    r2: float
    center_norm2: float
    tolerance: float
    scaling: _dataset_pb2.Scaling
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    feature_count: int
    support_vector_count: int
    check_rows: _common_pb2.Matrix
    check_distance2: _containers.RepeatedScalarFieldContainer[float]
    result: str
    observation_count: int
    dataset_hash: str
    sklearn_nu: float
    degenerate: bool
    refined_array_count: int
    check_probability: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, gamma: _Optional[float] = ..., c: _Optional[float] = ..., nu: _Optional[float] = ..., r2: _Optional[float] = ..., center_norm2: _Optional[float] = ..., tolerance: _Optional[float] = ..., scaling: _Optional[_Union[_dataset_pb2.Scaling, _Mapping]] = ..., feature_names: _Optional[_Iterable[str]] = ..., feature_count: _Optional[int] = ..., support_vector_count: _Optional[int] = ..., check_rows: _Optional[_Union[_common_pb2.Matrix, _Mapping]] = ..., check_distance2: _Optional[_Iterable[float]] = ..., result: _Optional[str] = ..., observation_count: _Optional[int] = ..., dataset_hash: _Optional[str] = ..., sklearn_nu: _Optional[float] = ..., degenerate: bool = ..., refined_array_count: _Optional[int] = ..., check_probability: _Optional[_Iterable[float]] = ...) -> None: ...

class RefinedChunk(_message.Message):
    __slots__ = ("array", "type", "shape", "data")
    ARRAY_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    array: str
    type: ElementType
    shape: _containers.RepeatedScalarFieldContainer[int]
    data: bytes
    def __init__(self, array: _Optional[str] = ..., type: _Optional[_Union[ElementType, str]] = ..., shape: _Optional[_Iterable[int]] = ..., data: _Optional[bytes] = ...) -> None: ...

class SupportVectorChunk(_message.Message):
    __slots__ = ("rows", "alphas", "dataset_rows")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ALPHAS_FIELD_NUMBER: _ClassVar[int]
    DATASET_ROWS_FIELD_NUMBER: _ClassVar[int]
    rows: _common_pb2.Matrix
    alphas: _containers.RepeatedScalarFieldContainer[float]
    dataset_rows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, rows: _Optional[_Union[_common_pb2.Matrix, _Mapping]] = ..., alphas: _Optional[_Iterable[float]] = ..., dataset_rows: _Optional[_Iterable[int]] = ...) -> None: ...

class ColumnProfile(_message.Message):
    __slots__ = ("center", "spread", "points", "shares")
    CENTER_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    center: float
    spread: float
    points: _containers.RepeatedScalarFieldContainer[float]
    shares: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, center: _Optional[float] = ..., spread: _Optional[float] = ..., points: _Optional[_Iterable[float]] = ..., shares: _Optional[_Iterable[float]] = ...) -> None: ...

class FreshRows(_message.Message):
    __slots__ = ("count", "outside_share", "largest_gap2")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_SHARE_FIELD_NUMBER: _ClassVar[int]
    LARGEST_GAP2_FIELD_NUMBER: _ClassVar[int]
    count: int
    outside_share: float
    largest_gap2: float
    def __init__(self, count: _Optional[int] = ..., outside_share: _Optional[float] = ..., largest_gap2: _Optional[float] = ...) -> None: ...

class ProfileChunk(_message.Message):
    __slots__ = ("columns", "fresh")
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    columns: _containers.RepeatedCompositeFieldContainer[ColumnProfile]
    fresh: FreshRows
    def __init__(self, columns: _Optional[_Iterable[_Union[ColumnProfile, _Mapping]]] = ..., fresh: _Optional[_Union[FreshRows, _Mapping]] = ...) -> None: ...
