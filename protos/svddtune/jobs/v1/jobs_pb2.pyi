from svddtune.v1 import common_pb2 as _common_pb2
from svddtune.v1 import config_pb2 as _config_pb2
from svddtune.v1 import dataset_pb2 as _dataset_pb2
from svddtune.v1 import oracle_pb2 as _oracle_pb2
from svddtune.v1 import result_pb2 as _result_pb2
from svddtune.v1 import tuning_pb2 as _tuning_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Job(_message.Message):
    __slots__ = ("prepare", "suggest", "plan", "fit", "estimate", "atlas", "preview", "refine")
    PREPARE_FIELD_NUMBER: _ClassVar[int]
    SUGGEST_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    ATLAS_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    REFINE_FIELD_NUMBER: _ClassVar[int]
    prepare: PrepareJob
    suggest: SuggestJob
    plan: PlanJob
    fit: FitJob
    estimate: EstimateJob
    atlas: AtlasJob
    preview: PreviewJob
    refine: RefineJob
    def __init__(self, prepare: _Optional[_Union[PrepareJob, _Mapping]] = ..., suggest: _Optional[_Union[SuggestJob, _Mapping]] = ..., plan: _Optional[_Union[PlanJob, _Mapping]] = ..., fit: _Optional[_Union[FitJob, _Mapping]] = ..., estimate: _Optional[_Union[EstimateJob, _Mapping]] = ..., atlas: _Optional[_Union[AtlasJob, _Mapping]] = ..., preview: _Optional[_Union[PreviewJob, _Mapping]] = ..., refine: _Optional[_Union[RefineJob, _Mapping]] = ...) -> None: ...

class PrepareJob(_message.Message):
    __slots__ = ("dataset_id", "k", "gamma_min", "gamma_max", "panel", "part")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    GAMMA_MIN_FIELD_NUMBER: _ClassVar[int]
    GAMMA_MAX_FIELD_NUMBER: _ClassVar[int]
    PANEL_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    k: int
    gamma_min: float
    gamma_max: float
    panel: bool
    part: int
    def __init__(self, dataset_id: _Optional[str] = ..., k: _Optional[int] = ..., gamma_min: _Optional[float] = ..., gamma_max: _Optional[float] = ..., panel: bool = ..., part: _Optional[int] = ...) -> None: ...

class SuggestJob(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class PlanJob(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class FitJob(_message.Message):
    __slots__ = ("session_id", "attempt", "index", "gamma", "c", "rule")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    attempt: int
    index: int
    gamma: float
    c: _containers.RepeatedScalarFieldContainer[float]
    rule: str
    def __init__(self, session_id: _Optional[str] = ..., attempt: _Optional[int] = ..., index: _Optional[int] = ..., gamma: _Optional[float] = ..., c: _Optional[_Iterable[float]] = ..., rule: _Optional[str] = ...) -> None: ...

class EstimateJob(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class AtlasJob(_message.Message):
    __slots__ = ("dataset_id", "index", "gamma_min", "gamma_max")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    GAMMA_MIN_FIELD_NUMBER: _ClassVar[int]
    GAMMA_MAX_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    index: int
    gamma_min: float
    gamma_max: float
    def __init__(self, dataset_id: _Optional[str] = ..., index: _Optional[int] = ..., gamma_min: _Optional[float] = ..., gamma_max: _Optional[float] = ...) -> None: ...

class PreviewJob(_message.Message):
    __slots__ = ("session_id", "labeler", "preview_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    labeler: str
    preview_id: str
    def __init__(self, session_id: _Optional[str] = ..., labeler: _Optional[str] = ..., preview_id: _Optional[str] = ...) -> None: ...

class RefineJob(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class Preview(_message.Message):
    __slots__ = ("before", "after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    before: _tuning_pb2.LiveEvidence
    after: _tuning_pb2.LiveEvidence
    def __init__(self, before: _Optional[_Union[_tuning_pb2.LiveEvidence, _Mapping]] = ..., after: _Optional[_Union[_tuning_pb2.LiveEvidence, _Mapping]] = ...) -> None: ...

class NamedArrays(_message.Message):
    __slots__ = ("arrays",)
    class ArraysEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: NamedArray
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[NamedArray, _Mapping]] = ...) -> None: ...
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    arrays: _containers.MessageMap[str, NamedArray]
    def __init__(self, arrays: _Optional[_Mapping[str, NamedArray]] = ...) -> None: ...

class NamedArray(_message.Message):
    __slots__ = ("dtype", "shape", "data")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    data: bytes
    def __init__(self, dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., data: _Optional[bytes] = ...) -> None: ...

class GridPlan(_message.Message):
    __slots__ = ("gamma", "alignment", "c_min", "c_max", "c_grid", "fits", "started_seconds", "choice", "c", "scaling")
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    C_MIN_FIELD_NUMBER: _ClassVar[int]
    C_MAX_FIELD_NUMBER: _ClassVar[int]
    C_GRID_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    STARTED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    SCALING_FIELD_NUMBER: _ClassVar[int]
    gamma: float
    alignment: float
    c_min: float
    c_max: float
    c_grid: _containers.RepeatedScalarFieldContainer[float]
    fits: _containers.RepeatedCompositeFieldContainer[PlannedFit]
    started_seconds: float
    choice: _result_pb2.Choice
    c: float
    scaling: _dataset_pb2.ScalingKind
    def __init__(self, gamma: _Optional[float] = ..., alignment: _Optional[float] = ..., c_min: _Optional[float] = ..., c_max: _Optional[float] = ..., c_grid: _Optional[_Iterable[float]] = ..., fits: _Optional[_Iterable[_Union[PlannedFit, _Mapping]]] = ..., started_seconds: _Optional[float] = ..., choice: _Optional[_Union[_result_pb2.Choice, str]] = ..., c: _Optional[float] = ..., scaling: _Optional[_Union[_dataset_pb2.ScalingKind, str]] = ...) -> None: ...

class PlannedFit(_message.Message):
    __slots__ = ("purpose", "gamma", "c")
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    purpose: str
    gamma: float
    c: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, purpose: _Optional[str] = ..., gamma: _Optional[float] = ..., c: _Optional[_Iterable[float]] = ...) -> None: ...

class FitOutput(_message.Message):
    __slots__ = ("cells",)
    CELLS_FIELD_NUMBER: _ClassVar[int]
    cells: _containers.RepeatedCompositeFieldContainer[FittedCell]
    def __init__(self, cells: _Optional[_Iterable[_Union[FittedCell, _Mapping]]] = ...) -> None: ...

class FittedCell(_message.Message):
    __slots__ = ("gamma", "c", "r2", "degenerate", "support_vector_count", "outside_count", "outside", "alphas", "center_norm2")
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    C_FIELD_NUMBER: _ClassVar[int]
    R2_FIELD_NUMBER: _ClassVar[int]
    DEGENERATE_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTSIDE_FIELD_NUMBER: _ClassVar[int]
    ALPHAS_FIELD_NUMBER: _ClassVar[int]
    CENTER_NORM2_FIELD_NUMBER: _ClassVar[int]
    gamma: float
    c: float
    r2: float
    degenerate: bool
    support_vector_count: int
    outside_count: int
    outside: bytes
    alphas: _containers.RepeatedScalarFieldContainer[float]
    center_norm2: float
    def __init__(self, gamma: _Optional[float] = ..., c: _Optional[float] = ..., r2: _Optional[float] = ..., degenerate: bool = ..., support_vector_count: _Optional[int] = ..., outside_count: _Optional[int] = ..., outside: _Optional[bytes] = ..., alphas: _Optional[_Iterable[float]] = ..., center_norm2: _Optional[float] = ...) -> None: ...

class SessionRecord(_message.Message):
    __slots__ = ("display_name", "config", "initial_rows", "answered_rows", "taken_over", "controls")
    class ControlsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: _common_pb2.Verdict
        def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[_common_pb2.Verdict, str]] = ...) -> None: ...
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ROWS_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_ROWS_FIELD_NUMBER: _ClassVar[int]
    TAKEN_OVER_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_FIELD_NUMBER: _ClassVar[int]
    display_name: str
    config: _config_pb2.SessionConfig
    initial_rows: _containers.RepeatedScalarFieldContainer[int]
    answered_rows: _containers.RepeatedScalarFieldContainer[int]
    taken_over: _tuning_pb2.TakenOver
    controls: _containers.ScalarMap[int, _common_pb2.Verdict]
    def __init__(self, display_name: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.SessionConfig, _Mapping]] = ..., initial_rows: _Optional[_Iterable[int]] = ..., answered_rows: _Optional[_Iterable[int]] = ..., taken_over: _Optional[_Union[_tuning_pb2.TakenOver, _Mapping]] = ..., controls: _Optional[_Mapping[int, _common_pb2.Verdict]] = ...) -> None: ...

class Portrait(_message.Message):
    __slots__ = ("features", "rows", "x", "y", "explained_share")
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    EXPLAINED_SHARE_FIELD_NUMBER: _ClassVar[int]
    features: _containers.RepeatedCompositeFieldContainer[_oracle_pb2.FeatureProfile]
    rows: _containers.RepeatedScalarFieldContainer[int]
    x: _containers.RepeatedScalarFieldContainer[float]
    y: _containers.RepeatedScalarFieldContainer[float]
    explained_share: float
    def __init__(self, features: _Optional[_Iterable[_Union[_oracle_pb2.FeatureProfile, _Mapping]]] = ..., rows: _Optional[_Iterable[int]] = ..., x: _Optional[_Iterable[float]] = ..., y: _Optional[_Iterable[float]] = ..., explained_share: _Optional[float] = ...) -> None: ...

class LabelledPlaces(_message.Message):
    __slots__ = ("rows", "x", "y")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedScalarFieldContainer[int]
    x: _containers.RepeatedScalarFieldContainer[float]
    y: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, rows: _Optional[_Iterable[int]] = ..., x: _Optional[_Iterable[float]] = ..., y: _Optional[_Iterable[float]] = ...) -> None: ...

class Margins(_message.Message):
    __slots__ = ("labels", "of_portrait", "rows", "of_rows")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    OF_PORTRAIT_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    OF_ROWS_FIELD_NUMBER: _ClassVar[int]
    labels: int
    of_portrait: _containers.RepeatedScalarFieldContainer[float]
    rows: _containers.RepeatedScalarFieldContainer[int]
    of_rows: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, labels: _Optional[int] = ..., of_portrait: _Optional[_Iterable[float]] = ..., rows: _Optional[_Iterable[int]] = ..., of_rows: _Optional[_Iterable[float]] = ...) -> None: ...

class StoredRows(_message.Message):
    __slots__ = ("folder", "rows_per_object", "sha256")
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    ROWS_PER_OBJECT_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    folder: str
    rows_per_object: int
    sha256: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, folder: _Optional[str] = ..., rows_per_object: _Optional[int] = ..., sha256: _Optional[_Iterable[bytes]] = ...) -> None: ...
