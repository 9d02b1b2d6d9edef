"""Tune SVDD outlier detectors with a few well-chosen labels.

In one call, with a service of its own for the time of the call::

    from svddtune import tune
    result = tune(X, lambda query: ask_somebody(query.features))
    result.gamma, result.C, result.predict(X_new)

Step by step, with a service that runs (``svddtune up``)::

    with TuningClient("127.0.0.1:50051") as client:
        session = client.create_session(client.upload_dataset(X), budget=50)
        with client.tuning(session) as tuning:
            for query in tuning.queries():
                tuning.answer(query, "inlier")
        print(client.wait_until_completed(session), client.result(session).gamma)

The public names are those of `__all__`; all else may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Loaded on first use: the command line answers --help without numpy and gRPC.
if TYPE_CHECKING:
    from svddtune.client.aio import AsyncTuning, AsyncTuningClient
    from svddtune.client.alertmanager import AlertObservations, observations_from_alertmanager
    from svddtune.client.client import TuningClient
    from svddtune.client.drift import Drift, FeatureShift, drift_of
    from svddtune.client.errors import (
        Conflict,
        InternalError,
        InvalidInput,
        LeaseLost,
        ModelCorrupt,
        NotFound,
        NotInstalled,
        PermissionDenied,
        ProtocolError,
        QuotaExceeded,
        SvddtuneError,
        Unauthenticated,
        Unavailable,
        WrongState,
    )
    from svddtune.client.figures import (
        Atlas,
        AtlasLayer,
        DataProfile,
        FeatureProfile,
        HistoryPoint,
        ServerLoad,
        SessionMap,
        WorkerLoad,
    )
    from svddtune.client.labelers import (
        Agreement,
        AgreementPair,
        LabelerReport,
        Reopening,
        WithdrawalEffect,
    )
    from svddtune.client.model import SvddModel, cohen_kappa
    from svddtune.client.oracles import (
        Command,
        KnownLabels,
        SimulatedLabeler,
        Tier,
        TierReport,
        Tiers,
    )
    from svddtune.client.outside import OutsideRow, outside_rows
    from svddtune.client.result import (
        AlignmentPoint,
        Asked,
        Comparison,
        GridCell,
        Manifest,
        RefinedResult,
        Result,
        Timings,
        TuningResult,
    )
    from svddtune.client.runs.asking import Progress
    from svddtune.client.runs.embedded import EmbeddedStack
    from svddtune.client.runs.interrupted import Interruption, interruption
    from svddtune.client.runs.tune import tune
    from svddtune.client.terminal.prompt import TerminalPrompt
    from svddtune.client.tickets.oracle import TicketOracle
    from svddtune.client.tuning import Tuning
    from svddtune.client.types import (
        Ack,
        Adjudication,
        BatchOutcome,
        Dataset,
        DetectorComparison,
        Interval,
        Judgement,
        Label,
        LabelCounts,
        LabelEvent,
        LiveEvidence,
        Nearby,
        Observation,
        OutlierShare,
        Quality,
        Query,
        RefusedLabel,
        RowScores,
        ServerInfo,
        Session,
        SessionState,
        SessionUpdate,
        SkipMode,
        TakenOver,
        Unusual,
        Verdict,
    )
    from svddtune.config import SessionConfig
    from svddtune.cost import CostEstimate

_HOMES = {
    "aio": ("AsyncTuning", "AsyncTuningClient"),
    "alertmanager": ("AlertObservations", "observations_from_alertmanager"),
    "runs.asking": ("Progress",),
    "client": ("TuningClient",),
    "runs.embedded": ("EmbeddedStack",),
    "errors": (
        "Conflict",
        "InternalError",
        "InvalidInput",
        "LeaseLost",
        "ModelCorrupt",
        "NotFound",
        "NotInstalled",
        "PermissionDenied",
        "ProtocolError",
        "QuotaExceeded",
        "SvddtuneError",
        "Unauthenticated",
        "Unavailable",
        "WrongState",
    ),
    "runs.interrupted": ("Interruption", "interruption"),
    "labelers": (
        "Agreement",
        "AgreementPair",
        "LabelerReport",
        "Reopening",
        "WithdrawalEffect",
    ),
    "drift": ("Drift", "FeatureShift", "drift_of"),
    "model": ("SvddModel", "cohen_kappa"),
    "oracles": (
        "Command",
        "KnownLabels",
        "SimulatedLabeler",
        "Tier",
        "TierReport",
        "Tiers",
    ),
    "outside": ("OutsideRow", "outside_rows"),
    "figures": (
        "Atlas",
        "AtlasLayer",
        "DataProfile",
        "FeatureProfile",
        "HistoryPoint",
        "ServerLoad",
        "SessionMap",
        "WorkerLoad",
    ),
    "result": (
        "AlignmentPoint",
        "Asked",
        "Comparison",
        "GridCell",
        "Manifest",
        "RefinedResult",
        "Result",
        "Timings",
        "TuningResult",
    ),
    "runs.tune": ("tune",),
    "terminal.prompt": ("TerminalPrompt",),
    "tickets.oracle": ("TicketOracle",),
    "tuning": ("Tuning",),
    "types": (
        "Ack",
        "Adjudication",
        "BatchOutcome",
        "CostEstimate",
        "Dataset",
        "DetectorComparison",
        "Interval",
        "Judgement",
        "Label",
        "LabelCounts",
        "LabelEvent",
        "LiveEvidence",
        "Nearby",
        "Observation",
        "OutlierShare",
        "Quality",
        "Query",
        "RefusedLabel",
        "RowScores",
        "ServerInfo",
        "Session",
        "SessionConfig",
        "SessionState",
        "SessionUpdate",
        "SkipMode",
        "TakenOver",
        "Unusual",
        "Verdict",
    ),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Ack",
    "Adjudication",
    "Agreement",
    "AgreementPair",
    "AlertObservations",
    "AlignmentPoint",
    "Asked",
    "AsyncTuning",
    "AsyncTuningClient",
    "Atlas",
    "AtlasLayer",
    "BatchOutcome",
    "Command",
    "Comparison",
    "Conflict",
    "CostEstimate",
    "DataProfile",
    "Dataset",
    "DetectorComparison",
    "Drift",
    "EmbeddedStack",
    "FeatureProfile",
    "FeatureShift",
    "GridCell",
    "HistoryPoint",
    "InternalError",
    "Interruption",
    "Interval",
    "InvalidInput",
    "Judgement",
    "KnownLabels",
    "Label",
    "LabelCounts",
    "LabelEvent",
    "LabelerReport",
    "LeaseLost",
    "LiveEvidence",
    "Manifest",
    "ModelCorrupt",
    "Nearby",
    "NotFound",
    "NotInstalled",
    "Observation",
    "OutlierShare",
    "OutsideRow",
    "PermissionDenied",
    "Progress",
    "ProtocolError",
    "Quality",
    "Query",
    "QuotaExceeded",
    "RefinedResult",
    "RefusedLabel",
    "Reopening",
    "Result",
    "RowScores",
    "ServerInfo",
    "ServerLoad",
    "Session",
    "SessionConfig",
    "SessionMap",
    "SessionState",
    "SessionUpdate",
    "SimulatedLabeler",
    "SkipMode",
    "SvddModel",
    "SvddtuneError",
    "TakenOver",
    "TerminalPrompt",
    "TicketOracle",
    "Tier",
    "TierReport",
    "Tiers",
    "Timings",
    "Tuning",
    "TuningClient",
    "TuningResult",
    "Unauthenticated",
    "Unavailable",
    "Unusual",
    "Verdict",
    "WithdrawalEffect",
    "WorkerLoad",
    "WrongState",
    "cohen_kappa",
    "drift_of",
    "interruption",
    "observations_from_alertmanager",
    "outside_rows",
    "tune",
]


if not TYPE_CHECKING:  # so that checkers know which names there are

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
