import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_INLIER: _ClassVar[Verdict]
    VERDICT_OUTLIER: _ClassVar[Verdict]
    VERDICT_UNSURE: _ClassVar[Verdict]
VERDICT_UNSPECIFIED: Verdict
VERDICT_INLIER: Verdict
VERDICT_OUTLIER: Verdict
VERDICT_UNSURE: Verdict

class Matrix(_message.Message):
    __slots__ = ("rows", "columns", "values")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    rows: int
    columns: int
    values: bytes
    def __init__(self, rows: _Optional[int] = ..., columns: _Optional[int] = ..., values: _Optional[bytes] = ...) -> None: ...

class DisplayField(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Interval(_message.Message):
    __slots__ = ("low", "high", "level")
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    low: float
    high: float
    level: float
    def __init__(self, low: _Optional[float] = ..., high: _Optional[float] = ..., level: _Optional[float] = ...) -> None: ...

class LabelCounts(_message.Message):
    __slots__ = ("inlier", "outlier", "unsure", "total")
    INLIER_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_FIELD_NUMBER: _ClassVar[int]
    UNSURE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    inlier: int
    outlier: int
    unsure: int
    total: int
    def __init__(self, inlier: _Optional[int] = ..., outlier: _Optional[int] = ..., unsure: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...

class LabelEvent(_message.Message):
    __slots__ = ("event_id", "kind", "observation_id", "row", "verdict", "labeler", "query", "source_reference", "answer_id", "time", "answer_seconds", "provenance", "confidence", "origin", "adjudicates")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[LabelEvent.Kind]
        KIND_LABELED: _ClassVar[LabelEvent.Kind]
        KIND_RETRACTED: _ClassVar[LabelEvent.Kind]
        KIND_UNUSED: _ClassVar[LabelEvent.Kind]
        KIND_REPEATED: _ClassVar[LabelEvent.Kind]
        KIND_WITHDRAWN: _ClassVar[LabelEvent.Kind]
        KIND_REINSTATED: _ClassVar[LabelEvent.Kind]
        KIND_CHECKED: _ClassVar[LabelEvent.Kind]
    KIND_UNSPECIFIED: LabelEvent.Kind
    KIND_LABELED: LabelEvent.Kind
    KIND_RETRACTED: LabelEvent.Kind
    KIND_UNUSED: LabelEvent.Kind
    KIND_REPEATED: LabelEvent.Kind
    KIND_WITHDRAWN: LabelEvent.Kind
    KIND_REINSTATED: LabelEvent.Kind
    KIND_CHECKED: LabelEvent.Kind
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    LABELER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ADJUDICATES_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    kind: LabelEvent.Kind
    observation_id: str
    row: int
    verdict: Verdict
    labeler: str
    query: int
    source_reference: str
    answer_id: str
    time: _timestamp_pb2.Timestamp
    answer_seconds: float
    provenance: str
    confidence: float
    origin: str
    adjudicates: bool
    def __init__(self, event_id: _Optional[str] = ..., kind: _Optional[_Union[LabelEvent.Kind, str]] = ..., observation_id: _Optional[str] = ..., row: _Optional[int] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., labeler: _Optional[str] = ..., query: _Optional[int] = ..., source_reference: _Optional[str] = ..., answer_id: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., answer_seconds: _Optional[float] = ..., provenance: _Optional[str] = ..., confidence: _Optional[float] = ..., origin: _Optional[str] = ..., adjudicates: bool = ...) -> None: ...
