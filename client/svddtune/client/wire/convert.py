"""Conversion between Protobuf messages and the client's values, except results."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar, cast

import numpy as np
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from svddtune.client.errors import InvalidInput
from svddtune.client.labelers import Agreement, AgreementPair, LabelerReport, WithdrawalEffect
from svddtune.client.types import (
    Ack,
    Adjudication,
    Dataset,
    DetectorComparison,
    FloatArray,
    Interval,
    LabelCounts,
    LabelEvent,
    LiveEvidence,
    Nearby,
    Observation,
    OutlierShare,
    Quality,
    Query,
    ServerInfo,
    Session,
    SessionState,
    SkipMode,
    TakenOver,
    Unusual,
    Verdict,
)
from svddtune.config import from_proto
from svddtune.config.words import word_of, words
from svddtune.cost import CostEstimate
from svddtune.v1 import (
    common_pb2,
    config_pb2,
    dataset_pb2,
    oracle_pb2,
    result_pb2,
    server_pb2,
    tuning_pb2,
)

_T = TypeVar("_T")

VERDICTS: dict[Verdict, common_pb2.Verdict] = {
    Verdict.INLIER: common_pb2.VERDICT_INLIER,
    Verdict.OUTLIER: common_pb2.VERDICT_OUTLIER,
    Verdict.UNSURE: common_pb2.VERDICT_UNSURE,
}
SKIP_MODES: dict[SkipMode, oracle_pb2.SkipMode] = {
    SkipMode.LATER: oracle_pb2.SKIP_MODE_LATER,
    SkipMode.OTHERS: oracle_pb2.SKIP_MODE_OTHERS,
    SkipMode.DROP: oracle_pb2.SKIP_MODE_DROP,
}
SCALINGS = cast("dict[str, dataset_pb2.ScalingKind]", words(dataset_pb2.ScalingKind.DESCRIPTOR))
LABELER_KINDS: dict[str, oracle_pb2.LabelerKind] = {
    "human": oracle_pb2.LABELER_KIND_HUMAN,
    "automated": oracle_pb2.LABELER_KIND_AUTOMATED,
}
AGREEMENT_BY: dict[str, tuning_pb2.AgreementBy] = {
    "labeler": tuning_pb2.AGREEMENT_BY_LABELER,
    "provenance": tuning_pb2.AGREEMENT_BY_PROVENANCE,
}
STATES = cast("dict[str, tuning_pb2.SessionState]", words(tuning_pb2.SessionState.DESCRIPTOR))
_KNOWN_STATES = frozenset(SessionState)
_QUALITY_KINDS = {
    result_pb2.Quality.KIND_UNSPECIFIED: "queried",
    result_pb2.Quality.KIND_QUERIED: "queried",
    result_pb2.Quality.KIND_AUDIT: "audit",
    result_pb2.Quality.KIND_HELD_OUT: "held_out",
}
_DETECTORS = {result_pb2.DETECTOR_SVDD: "svdd", result_pb2.DETECTOR_REFINED: "refined"}
_SHARE_METHODS = {
    result_pb2.OutlierShare.METHOD_BELIEF: "belief",
    result_pb2.OutlierShare.METHOD_AUDIT: "audit",
}
_EVENT_KINDS = {
    common_pb2.LabelEvent.KIND_LABELED: "labeled",
    common_pb2.LabelEvent.KIND_RETRACTED: "retracted",
    common_pb2.LabelEvent.KIND_UNUSED: "unused",
    common_pb2.LabelEvent.KIND_REPEATED: "repeated",
    common_pb2.LabelEvent.KIND_CHECKED: "checked",
    common_pb2.LabelEvent.KIND_WITHDRAWN: "withdrawn",
    common_pb2.LabelEvent.KIND_REINSTATED: "reinstated",
}


def choice(table: dict[str, _T], value: str, field: str) -> _T:
    """Return the wire value of `value`; InvalidInput names the values that `field` takes."""
    try:
        return table[value.lower()]
    except (KeyError, AttributeError):
        allowed = ", ".join(table)
        raise InvalidInput(
            f"{field} is {value!r}; allowed: {allowed}.",
            metadata={"field": field, "value": str(value)},
        ) from None


def scaling_from_proto(kind: dataset_pb2.ScalingKind) -> str:
    """Return the word for a kind of scaling, empty for an unspecified one."""
    return next((word for word, wire in SCALINGS.items() if wire == kind), "")


def time_from_proto(stamp: Timestamp) -> datetime | None:
    """Return an aware UTC datetime, None where the stamp is not set."""
    return stamp.ToDatetime(tzinfo=UTC) if stamp.seconds or stamp.nanos else None


def verdict_from_proto(value: int) -> Verdict | None:
    """Return the verdict, None for an unknown one."""
    return next((verdict for verdict, wire in VERDICTS.items() if wire == value), None)


def counts_from_proto(counts: common_pb2.LabelCounts) -> LabelCounts:
    """Return the label counts."""
    return LabelCounts(counts.inlier, counts.outlier, counts.unsure, counts.total)


def matrix_to_proto(rows: FloatArray) -> common_pb2.Matrix:
    """Return rows x columns doubles as a message."""
    values = np.ascontiguousarray(rows, dtype="<f8").tobytes()
    return common_pb2.Matrix(rows=rows.shape[0], columns=rows.shape[1], values=values)


def dataset_from_proto(dataset: dataset_pb2.Dataset) -> Dataset:
    """Return the dataset's description."""
    return Dataset(
        name=dataset.name,
        display_name=dataset.display_name,
        observation_count=dataset.observation_count,
        feature_count=dataset.feature_count,
        feature_names=tuple(dataset.feature_names),
        scaling=scaling_from_proto(dataset.scaling) or "none",
        content_hash=dataset.content_hash,
        duplicate_row_count=dataset.duplicate_row_count,
        constant_columns=tuple(dataset.constant_columns),
        session_count=dataset.session_count,
        create_time=time_from_proto(dataset.create_time),
        labels=dict(dataset.labels),
        expire_time=(
            time_from_proto(dataset.expire_time) if dataset.HasField("expire_time") else None
        ),
    )


def session_from_proto(session: tuning_pb2.Session) -> Session:
    """Return the session as it is in the message."""
    state = word_of(tuning_pb2.SessionState.DESCRIPTOR, session.state)
    return Session(
        name=session.name,
        dataset=session.dataset,
        display_name=session.display_name,
        config=from_proto(session.config),
        state=SessionState(state) if state in _KNOWN_STATES else SessionState.UNKNOWN,
        counts=counts_from_proto(session.counts),
        query_count=session.query_count,
        leased_count=session.leased_count,
        gamma=session.gamma,
        scaling=scaling_from_proto(session.scaling),
        alignment=session.alignment,
        latest_result=session.latest_result,
        failure_reason=session.failure.reason,
        failure_message=session.failure.message,
        observation_count=session.observation_count,
        etag=session.etag,
        atlas_progress=session.atlas_progress,
        live=live_from_proto(session.live) if session.HasField("live") else None,
        detectors=(
            detectors_from_proto(session.detectors) if session.HasField("detectors") else None
        ),
        awaiting_votes=session.awaiting_votes,
        awaiting_adjudication=session.awaiting_adjudication,
        ranking_pending=session.ranking_pending,
        waiting_count=session.waiting_count,
        without_workers=session.without_workers,
        create_time=time_from_proto(session.create_time),
        update_time=time_from_proto(session.update_time),
        taken_over=(
            TakenOver(
                source=session.taken_over.source,
                taken=session.taken_over.taken_count,
                left_out=session.taken_over.left_out_count,
            )
            if session.HasField("taken_over")
            else None
        ),
        estimate=(
            CostEstimate(session.estimate.first_query_seconds, session.estimate.worker_memory_bytes)
            if session.HasField("estimate")
            else None
        ),
        labels=dict(session.labels),
        stall=(word_of(tuning_pb2.StallReason.DESCRIPTOR, session.stall) if session.stall else ""),
        expire_time=(
            time_from_proto(session.expire_time) if session.HasField("expire_time") else None
        ),
        due_time=time_from_proto(session.due_time) if session.HasField("due_time") else None,
        overdue=session.overdue,
        retention_s=(session.retention_seconds if session.HasField("retention_seconds") else None),
    )


def live_from_proto(live: tuning_pb2.LiveEvidence) -> LiveEvidence:
    """Return the evidence of the labels so far."""
    return LiveEvidence(
        scaling=scaling_from_proto(live.scaling),
        gamma=live.gamma,
        C=live.c,
        outside_count=live.outside_count,
        quality=quality_from_proto(live.quality),
        expected=figure(live, "expected"),
        advice=live.advice,
        stop=live.stop,
        labels=live.labels,
        outlier_share=(
            share_from_proto(live.outlier_share) if live.HasField("outlier_share") else None
        ),
        expected_gain=live.expected_gain if live.HasField("expected_gain") else None,
    )


def share_from_proto(share: result_pb2.OutlierShare) -> OutlierShare:
    """Return the estimated share of outliers among all rows."""
    interval = share.interval
    return OutlierShare(
        value=share.value,
        interval=Interval(interval.low, interval.high, interval.level),
        method=_SHARE_METHODS.get(share.method, ""),
        labels=share.labels,
    )


def detectors_from_proto(compared: result_pb2.DetectorComparison) -> DetectorComparison:
    """Return how the two detectors compare on held-out labels."""
    difference = compared.difference
    return DetectorComparison(
        svdd=quality_from_proto(compared.svdd),
        refined=quality_from_proto(compared.refined),
        difference=(
            Interval(difference.low, difference.high, difference.level)
            if compared.HasField("difference")
            else None
        ),
        better=_DETECTORS.get(compared.better, ""),
        labels=compared.labels,
    )


def quality_from_proto(quality: result_pb2.Quality) -> Quality:
    """Return a score and the labels it is computed on."""
    interval = quality.interval
    return Quality(
        metric=word_of(config_pb2.Metric.DESCRIPTOR, quality.metric),
        value=figure(quality, "value"),
        interval=Interval(interval.low, interval.high, interval.level)
        if quality.HasField("interval")
        else None,
        counts=counts_from_proto(quality.counts),
        kind=_QUALITY_KINDS.get(quality.kind, ""),
    )


def event_from_proto(event: common_pb2.LabelEvent) -> LabelEvent:
    """Return one event of the label log."""
    return LabelEvent(
        event_id=event.event_id,
        kind=_EVENT_KINDS.get(event.kind, ""),
        observation_id=event.observation_id,
        row=event.row,
        verdict=verdict_from_proto(event.verdict),
        labeler=event.labeler,
        query=event.query,
        source_reference=event.source_reference,
        answer_id=event.answer_id,
        time=time_from_proto(event.time),
        answer_seconds=event.answer_seconds,
        provenance=event.provenance,
        confidence=event.confidence if event.HasField("confidence") else None,
        origin=event.origin,
        adjudicates=event.adjudicates,
    )


def observation_from_proto(observation: dataset_pb2.Observation) -> Observation:
    """Return the row that an Observation describes."""
    return Observation(observation.row, observation.observation_id, _display(observation.display))


def query_from_proto(assign: oracle_pb2.Assign) -> Query:
    """Return the query that an Assign hands out."""
    explanation, visible = assign.explanation, assign.visible
    names = tuple(one.name for one in visible)
    return Query(
        number=assign.query,
        observation_id=assign.observation_id,
        row=assign.row,
        features=np.array(
            [one.value for one in visible] if visible else assign.features, dtype=np.float64
        ),
        display=_display(assign.display),
        why=explanation.why,
        score=explanation.score,
        lease_id=assign.lease_id,
        lease_expires=time_from_proto(assign.lease_expire_time),
        nearby=tuple(
            Nearby(near.observation_id, verdict_from_proto(near.verdict), near.distance2)
            for near in explanation.nearby
        ),
        unusual=tuple(
            Unusual(item.name, item.column, item.value, item.typical, item.deviation)
            for item in explanation.unusual
        ),
        reference_inliers=explanation.reference_inliers,
        session=assign.session,
        columns=tuple(one.column for one in visible),
        names=names if any(names) else (),
        adjudication=_adjudication(assign.adjudication)
        if assign.HasField("adjudication")
        else None,
    )


def _adjudication(message: oracle_pb2.Adjudication) -> Adjudication:
    return Adjudication(message.inlier_votes, message.outlier_votes, message.unsure_votes)


def ack_from_proto(ack: oracle_pb2.Ack) -> Ack:
    """Return the acknowledgement."""
    return Ack(
        answer_id=ack.answer_id,
        query=ack.query,
        applied=ack.disposition != oracle_pb2.Ack.DISPOSITION_UNUSED,
        counts=counts_from_proto(ack.counts),
        event_id=ack.event_id,
        session=ack.session,
    )


def revoke_reason(number: int) -> str:
    """Return why a lease ended, e.g. "EXPIRED"; empty where no reason is given."""
    return word_of(oracle_pb2.RevokeReason.DESCRIPTOR, number).upper() if number else ""


def finish_reason(number: int) -> str:
    """Return why a session asks nothing more, e.g. "BUDGET_SPENT"; by default "FINISHED"."""
    return word_of(oracle_pb2.FinishReason.DESCRIPTOR, number).upper() if number else "FINISHED"


def figure(message: Message, name: str) -> float:
    """Return a figure of a message; NaN where it is absent, because it is not defined."""
    return float(getattr(message, name)) if message.HasField(name) else math.nan


def _display(fields: Iterable[common_pb2.DisplayField]) -> dict[str, str]:
    return {field.key: field.value for field in fields}


def report_from_proto(report: tuning_pb2.LabelerReport) -> LabelerReport:
    """Return what one labeler did."""
    return LabelerReport(
        labeler=report.labeler,
        votes=counts_from_proto(report.votes),
        asked=report.asked,
        unasked=report.unasked,
        unused=report.unused,
        retracted=report.retracted,
        median_answer_seconds=figure(report, "median_answer_seconds"),
        compared=report.compared,
        agreement=figure(report, "agreement"),
        repeats=report.repeats,
        self_consistency=figure(report, "self_consistency"),
        withdrawn=report.withdrawn,
        last_answer_time=time_from_proto(report.last_answer_time),
        controls=report.control_count,
        controls_right=report.control_right_count,
        outlier_controls=report.control_outlier_count,
        outlier_controls_right=report.control_outlier_right_count,
        trust=figure(report, "trust"),
    )


def agreement_from_proto(agreement: tuning_pb2.Agreement) -> Agreement:
    """Return how well labelers agree."""
    return Agreement(
        observations=agreement.observations,
        observed=figure(agreement, "observed"),
        cohen_kappa=figure(agreement, "cohen_kappa"),
        fleiss_kappa=figure(agreement, "fleiss_kappa"),
        fleiss_observations=agreement.fleiss_observations,
        krippendorff_alpha=figure(agreement, "krippendorff_alpha"),
    )


def pair_from_proto(pair: tuning_pb2.AgreementPair) -> AgreementPair:
    """Return how two labelers, or two sources, agree."""
    return AgreementPair(
        first=pair.first,
        second=pair.second,
        both_inlier=pair.both_inlier,
        both_outlier=pair.both_outlier,
        inlier_outlier=pair.inlier_outlier,
        outlier_inlier=pair.outlier_inlier,
        cohen_kappa=figure(pair, "cohen_kappa"),
    )


def effect_from_proto(effect: tuning_pb2.WithdrawalEffect) -> WithdrawalEffect:
    """Return what a withdrawal does."""
    return WithdrawalEffect(
        votes=effect.votes,
        labels_lost=effect.labels_lost,
        labels_changed=effect.labels_changed,
        labels_gained=effect.labels_gained,
        queries_reopened=effect.queries_reopened,
        counts_before=counts_from_proto(effect.counts_before),
        counts_after=counts_from_proto(effect.counts_after),
        live_before=live_from_proto(effect.live_before) if effect.HasField("live_before") else None,
        live_after=live_from_proto(effect.live_after) if effect.HasField("live_after") else None,
    )


def server_info_from_proto(info: server_pb2.GetServerInfoResponse) -> ServerInfo:
    """Return what a service says of itself."""
    readiness = info.readiness
    return ServerInfo(
        version=info.version,
        min_protocol_version=info.min_protocol_version,
        max_protocol_version=info.max_protocol_version,
        features=tuple(word_of(server_pb2.Feature.DESCRIPTOR, one) for one in info.features),
        limits={
            field.name: getattr(info.limits, field.name)
            for field in server_pb2.ServerLimits.DESCRIPTOR.fields
        },
        ready=readiness.ready,
        message=readiness.message,
        workers=readiness.worker_count if readiness.HasField("worker_count") else None,
        caller=info.caller.name,
    )
