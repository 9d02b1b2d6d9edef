from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class QueryStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUERY_STRATEGY_UNSPECIFIED: _ClassVar[QueryStrategy]
    QUERY_STRATEGY_LAMA: _ClassVar[QueryStrategy]
    QUERY_STRATEGY_RANDOM: _ClassVar[QueryStrategy]
    QUERY_STRATEGY_DISAGREEMENT: _ClassVar[QueryStrategy]
    QUERY_STRATEGY_KNOWLEDGE_GRADIENT: _ClassVar[QueryStrategy]
    QUERY_STRATEGY_MIXED: _ClassVar[QueryStrategy]

class Metric(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    METRIC_UNSPECIFIED: _ClassVar[Metric]
    METRIC_KAPPA: _ClassVar[Metric]
    METRIC_MCC: _ClassVar[Metric]
    METRIC_F1: _ClassVar[Metric]
    METRIC_BALANCED_ACCURACY: _ClassVar[Metric]

class GridSpacing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRID_SPACING_UNSPECIFIED: _ClassVar[GridSpacing]
    GRID_SPACING_LINEAR: _ClassVar[GridSpacing]
    GRID_SPACING_GEOMETRIC: _ClassVar[GridSpacing]

class TieRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIE_RULE_UNSPECIFIED: _ClassVar[TieRule]
    TIE_RULE_PLATEAU: _ClassVar[TieRule]
    TIE_RULE_FIRST: _ClassVar[TieRule]

class TauRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TAU_RULE_UNSPECIFIED: _ClassVar[TauRule]
    TAU_RULE_PROPAGATED: _ClassVar[TauRule]
    TAU_RULE_PRINTED: _ClassVar[TauRule]

class OverlapRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERLAP_RULE_UNSPECIFIED: _ClassVar[OverlapRule]
    OVERLAP_RULE_ALWAYS: _ClassVar[OverlapRule]
    OVERLAP_RULE_ADAPTIVE: _ClassVar[OverlapRule]

class Aggregation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGGREGATION_UNSPECIFIED: _ClassVar[Aggregation]
    AGGREGATION_MAJORITY: _ClassVar[Aggregation]
    AGGREGATION_DAWID_SKENE: _ClassVar[Aggregation]
QUERY_STRATEGY_UNSPECIFIED: QueryStrategy
QUERY_STRATEGY_LAMA: QueryStrategy
QUERY_STRATEGY_RANDOM: QueryStrategy
QUERY_STRATEGY_DISAGREEMENT: QueryStrategy
QUERY_STRATEGY_KNOWLEDGE_GRADIENT: QueryStrategy
QUERY_STRATEGY_MIXED: QueryStrategy
METRIC_UNSPECIFIED: Metric
METRIC_KAPPA: Metric
METRIC_MCC: Metric
METRIC_F1: Metric
METRIC_BALANCED_ACCURACY: Metric
GRID_SPACING_UNSPECIFIED: GridSpacing
GRID_SPACING_LINEAR: GridSpacing
GRID_SPACING_GEOMETRIC: GridSpacing
TIE_RULE_UNSPECIFIED: TieRule
TIE_RULE_PLATEAU: TieRule
TIE_RULE_FIRST: TieRule
TAU_RULE_UNSPECIFIED: TauRule
TAU_RULE_PROPAGATED: TauRule
TAU_RULE_PRINTED: TauRule
OVERLAP_RULE_UNSPECIFIED: OverlapRule
OVERLAP_RULE_ALWAYS: OverlapRule
OVERLAP_RULE_ADAPTIVE: OverlapRule
AGGREGATION_UNSPECIFIED: Aggregation
AGGREGATION_MAJORITY: Aggregation
AGGREGATION_DAWID_SKENE: Aggregation

class SessionConfig(_message.Message):
    __slots__ = ("k", "budget", "strategy", "candidate_sample", "gamma_min", "gamma_max", "c_cells", "c_spacing", "metric", "seed", "lease_seconds", "audit", "auto_finish", "overlap", "overlap_rule", "overlap_limit", "aggregation", "repeat_every", "priority", "label_noise", "c_tie_rule", "tau_rule", "own_strategy", "raw_features", "blind", "visible_features", "adjudicators", "required_tags", "due_seconds", "control_share", "trusts")
    class TrustsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    K_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_MIN_FIELD_NUMBER: _ClassVar[int]
    GAMMA_MAX_FIELD_NUMBER: _ClassVar[int]
    C_CELLS_FIELD_NUMBER: _ClassVar[int]
    C_SPACING_FIELD_NUMBER: _ClassVar[int]
    METRIC_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    LEASE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    AUTO_FINISH_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_RULE_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_LIMIT_FIELD_NUMBER: _ClassVar[int]
    AGGREGATION_FIELD_NUMBER: _ClassVar[int]
    REPEAT_EVERY_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LABEL_NOISE_FIELD_NUMBER: _ClassVar[int]
    C_TIE_RULE_FIELD_NUMBER: _ClassVar[int]
    TAU_RULE_FIELD_NUMBER: _ClassVar[int]
    OWN_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    RAW_FEATURES_FIELD_NUMBER: _ClassVar[int]
    BLIND_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FEATURES_FIELD_NUMBER: _ClassVar[int]
    ADJUDICATORS_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_TAGS_FIELD_NUMBER: _ClassVar[int]
    DUE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    CONTROL_SHARE_FIELD_NUMBER: _ClassVar[int]
    TRUSTS_FIELD_NUMBER: _ClassVar[int]
    k: int
    budget: int
    strategy: QueryStrategy
    candidate_sample: int
    gamma_min: float
    gamma_max: float
    c_cells: int
    c_spacing: GridSpacing
    metric: Metric
    seed: int
    lease_seconds: float
    audit: int
    auto_finish: bool
    overlap: int
    overlap_rule: OverlapRule
    overlap_limit: int
    aggregation: Aggregation
    repeat_every: int
    priority: int
    label_noise: float
    c_tie_rule: TieRule
    tau_rule: TauRule
    own_strategy: str
    raw_features: bool
    blind: bool
    visible_features: _containers.RepeatedScalarFieldContainer[str]
    adjudicators: _containers.RepeatedScalarFieldContainer[str]
    required_tags: _containers.RepeatedScalarFieldContainer[str]
    due_seconds: int
    control_share: float
    trusts: _containers.ScalarMap[str, float]
    def __init__(self, k: _Optional[int] = ..., budget: _Optional[int] = ..., strategy: _Optional[_Union[QueryStrategy, str]] = ..., candidate_sample: _Optional[int] = ..., gamma_min: _Optional[float] = ..., gamma_max: _Optional[float] = ..., c_cells: _Optional[int] = ..., c_spacing: _Optional[_Union[GridSpacing, str]] = ..., metric: _Optional[_Union[Metric, str]] = ..., seed: _Optional[int] = ..., lease_seconds: _Optional[float] = ..., audit: _Optional[int] = ..., auto_finish: bool = ..., overlap: _Optional[int] = ..., overlap_rule: _Optional[_Union[OverlapRule, str]] = ..., overlap_limit: _Optional[int] = ..., aggregation: _Optional[_Union[Aggregation, str]] = ..., repeat_every: _Optional[int] = ..., priority: _Optional[int] = ..., label_noise: _Optional[float] = ..., c_tie_rule: _Optional[_Union[TieRule, str]] = ..., tau_rule: _Optional[_Union[TauRule, str]] = ..., own_strategy: _Optional[str] = ..., raw_features: bool = ..., blind: bool = ..., visible_features: _Optional[_Iterable[str]] = ..., adjudicators: _Optional[_Iterable[str]] = ..., required_tags: _Optional[_Iterable[str]] = ..., due_seconds: _Optional[int] = ..., control_share: _Optional[float] = ..., trusts: _Optional[_Mapping[str, float]] = ...) -> None: ...
