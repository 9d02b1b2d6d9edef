"""Domain values to messages of the wire and back."""

import base64
import binascii
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar, cast

import numpy as np
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from svddtune.agreement import Agreement, LabelerReport, PairAgreement
from svddtune.config import SessionConfig, to_proto
from svddtune.config.words import words
from svddtune.service.names import dataset_name, result_name, session_name
from svddtune.service.status import status_proto
from svddtune.service.validate import invalid_field
from svddtune.state import codec
from svddtune.state.datasets import StoredObservation
from svddtune.state.errors import StateError
from svddtune.state.session import (
    LabelCounts,
    LabelEvent,
    Lease,
    LeaseOutcome,
    LeasesReceipt,
    Receipt,
    Session,
    SessionId,
    SessionState,
    SkipMode,
    WithdrawalEffect,
)
from svddtune.v1 import common_pb2, config_pb2, oracle_pb2, result_pb2, tuning_pb2

AnyMessage = TypeVar("AnyMessage", bound=Message)

# Below gRPC's limit of 4 MiB a message.
MOST_BYTES = 3 << 20

_EVENT_ID = re.compile(r"([0-9]{1,20})-([0-9]{1,20})")
_SKIP_MODES: dict[int, SkipMode] = {
    oracle_pb2.SKIP_MODE_UNSPECIFIED: SkipMode.LATER,
    oracle_pb2.SKIP_MODE_LATER: SkipMode.LATER,
    oracle_pb2.SKIP_MODE_OTHERS: SkipMode.OTHERS,
    oracle_pb2.SKIP_MODE_DROP: SkipMode.DROP,
}
_AWAITS_LABELS = frozenset({SessionState.PREPARING, SessionState.LABELING, SessionState.PAUSED})
_WHY_REPEATED = "You answered this before; it is asked again to measure how consistent answers are."


def timestamp(milliseconds: int) -> Timestamp:
    """An instant of Redis's clock."""
    moment = Timestamp()
    moment.FromMilliseconds(milliseconds)
    return moment


def session_to_proto(session: Session) -> tuning_pb2.Session:
    """A session as a message."""
    failure = session.failure
    return tuning_pb2.Session(
        name=session_name(session.id),
        dataset=dataset_name(session.dataset_id),
        display_name=session.display_name,
        config=_config_to_proto(session.config),
        state=f"SESSION_STATE_{session.state.value}",
        counts=codec.counts_to_proto(session.counts),
        query_count=session.query_count,
        leased_count=session.leased_count,
        gamma=session.gamma or None,
        scaling=session.scaling,
        alignment=session.alignment if session.gamma else None,
        latest_result=result_name(session.id, session.revision) if session.revision else "",
        failure=(
            tuning_pb2.Failure(reason=failure.reason, message=failure.message) if failure else None
        ),
        create_time=timestamp(session.created_ms),
        update_time=timestamp(session.updated_ms),
        etag=str(session.version),
        observation_count=session.observation_count,
        atlas_progress=session.atlas_progress,
        live=tuning_pb2.LiveEvidence.FromString(session.live) if session.live else None,
        detectors=(
            result_pb2.DetectorComparison.FromString(session.detectors)
            if session.detectors
            else None
        ),
        awaiting_votes=session.awaiting_votes,
        awaiting_adjudication=session.awaiting_adjudication,
        ranking_pending=session.ranking_pending,
        waiting_count=session.waiting_count,
        taken_over=session.taken_over,
        labels=session.labels,
        expire_time=None if session.expires_ms is None else timestamp(session.expires_ms),
        retention_seconds=None if session.retention_ms is None else session.retention_ms / 1000,
        due_time=None if session.due_ms is None else timestamp(session.due_ms),
        overdue=_is_overdue(session),
    )


def _is_overdue(session: Session) -> bool:
    """Whether labels are still awaited after the due time."""
    return (
        session.due_ms is not None
        and session.state in _AWAITS_LABELS
        and time.time() * 1000 > session.due_ms
    )


@lru_cache(maxsize=1024)
def _config_to_proto(config: SessionConfig) -> config_pb2.SessionConfig:
    """Settings as a message that is only copied: sessions are sent often, and settings are many."""
    return to_proto(config)


def event_to_proto(event: LabelEvent, observation_id: str) -> common_pb2.LabelEvent:
    """An entry of the label log."""
    of_labeler = event.kind in ("WITHDRAWN", "REINSTATED")
    return common_pb2.LabelEvent(
        event_id=event.event_id,
        kind=f"KIND_{event.kind}",
        observation_id="" if of_labeler else observation_id,
        row=event.row,
        verdict=None if of_labeler else codec.VERDICTS[event.verdict],
        labeler=event.labeler,
        query=event.query,
        source_reference=event.source_reference,
        answer_id=event.answer_id,
        time=timestamp(event.time_ms),
        answer_seconds=event.answer_seconds,
        provenance=event.provenance,
        confidence=event.confidence,
        origin=session_name(SessionId(event.origin)) if event.origin else "",
        adjudicates=event.adjudicates,
    )


def assign_to_proto(
    session_id: SessionId, lease: Lease, observation: StoredObservation, explanation: bytes
) -> oracle_pb2.Assign:
    """A leased query with all that its labeler is shown.

    ``explanation`` is a serialized Explanation, as its worker wrote it.
    """
    assign = oracle_pb2.Assign(
        session=session_name(session_id),
        query=lease.query,
        observation_id=observation.observation_id,
        row=lease.row,
        features=np.frombuffer(observation.values, dtype="<f8"),
        display=observation.display.fields,
        lease_id=lease.lease_id,
        lease_expire_time=timestamp(lease.expires_ms),
    )
    assign.explanation.MergeFromString(explanation)
    if lease.repeats:
        assign.explanation.why = _WHY_REPEATED
    if lease.conflict:
        inlier, outlier, unsure = lease.conflict
        assign.adjudication.inlier_votes = inlier
        assign.adjudication.outlier_votes = outlier
        assign.adjudication.unsure_votes = unsure
    return assign


def receipt_to_proto(receipt: Receipt, answer_id: str = "") -> oracle_pb2.Ack:
    """The Ack of an answer, skip or retraction."""
    ack = oracle_pb2.Ack
    return ack(
        answer_id=answer_id,
        query=receipt.query,
        disposition=ack.DISPOSITION_APPLIED if receipt.applied else ack.DISPOSITION_UNUSED,
        counts=codec.counts_to_proto(receipt.counts),
        event_id=receipt.event_id,
    )


def batch_to_proto(
    session_id: SessionId,
    answers: Sequence[oracle_pb2.Answer],
    applied: int,
    counts: LabelCounts,
    refused: Mapping[int, StateError],
) -> oracle_pb2.AnswerBatchResponse:
    """The response to a batch of answers; ``refused`` names the places of the refused ones."""
    session = session_name(session_id)
    return oracle_pb2.AnswerBatchResponse(
        counts=codec.counts_to_proto(counts),
        applied_count=applied,
        rejects=[
            oracle_pb2.Reject(
                answer_id=answers[place].answer_id, status=status_proto(error), session=session
            )
            for place, error in sorted(refused.items())
        ],
    )


def leases_receipt_to_proto(receipt: LeasesReceipt) -> oracle_pb2.Ack:
    """The Ack of an extension or release."""
    return oracle_pb2.Ack(
        disposition=oracle_pb2.Ack.DISPOSITION_APPLIED,
        lost_lease_ids=receipt.lost,
        extended=[
            oracle_pb2.LeaseExpiry(lease_id=lease_id, expire_time=timestamp(expires_ms))
            for lease_id, expires_ms in receipt.extended.items()
        ],
    )


def skip_mode_from_proto(number: int) -> SkipMode:
    """The skip mode of an enum's number. Raises InvalidInput for an unknown one."""
    mode = _SKIP_MODES.get(number)
    if mode is None:
        raise invalid_field("mode", number, "SKIP_MODE_LATER, _OTHERS or _DROP")
    return mode


def agreement_by(number: int) -> tuning_pb2.AgreementBy:
    """What is to be compared. Raises InvalidInput for an unknown number."""
    if number not in tuning_pb2.AgreementBy.values():
        raise invalid_field("by", number, "AGREEMENT_BY_LABELER or _PROVENANCE")
    return cast(tuning_pb2.AgreementBy, number)


def fitting(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """The first messages, as many as one response may hold and at least one."""
    size, count = 0, 0
    for message in messages:
        size += message.ByteSize()
        if count and size > MOST_BYTES:
            break
        count += 1
    return messages[:count]


def page_token(created_ms: int, name: str) -> str:
    """Token of the next page; opaque to callers."""
    return _token([created_ms, name])


def page_position(token: str) -> tuple[int, str] | None:
    """Inverse of ``page_token``; None for the first page."""
    if not token:
        return None
    match _untoken(token, "page_token"):
        case [int(created_ms), str(name)]:
            return created_ms, name
    raise invalid_field("page_token", token, "the next_page_token of the page before")


def resume_token(version: str, event_id: str) -> str:
    """Token of the position of a watch; opaque to callers."""
    return _token([version, event_id])


def resume_position(token: str) -> tuple[str, str]:
    """Inverse of ``resume_token``: version and last event id, empty at the beginning."""
    if not token:
        return "", ""
    match _untoken(token, "resume_token"):
        case [str(version), str(event_id)] if _is_event_id(event_id):
            return version, event_id
    raise invalid_field("resume_token", token, "the resume_token of the message before")


def event_token(event_id: str) -> str:
    """Token of the next page of the label log."""
    return _token([event_id])


def event_position(token: str) -> str:
    """Inverse of ``event_token``; empty for the first page."""
    if not token:
        return ""
    match _untoken(token, "page_token"):
        case [str(event_id)] if _is_event_id(event_id):
            return event_id
    raise invalid_field("page_token", token, "the next_page_token of the page before")


def name_token(name: str) -> str:
    """Token of the page that begins behind a name."""
    return _token([name])


def name_position(token: str) -> str:
    """Inverse of ``name_token``; empty for the first page."""
    if not token:
        return ""
    match _untoken(token, "page_token"):
        case [str(name)]:
            return name
    raise invalid_field("page_token", token, "the next_page_token of the page before")


def pair_token(first: str, second: str) -> str:
    """Token of the page that begins behind a pair of names."""
    return _token([first, second])


def pair_position(token: str) -> tuple[str, str] | None:
    """Inverse of ``pair_token``; None for the first page."""
    if not token:
        return None
    match _untoken(token, "page_token"):
        case [str(first), str(second)]:
            return first, second
    raise invalid_field("page_token", token, "the next_page_token of the page before")


def row_token(row: int) -> str:
    """Token of the next page of observations."""
    return _token([row])


def row_position(token: str) -> int:
    """Inverse of ``row_token``; 0 for the first page."""
    if not token:
        return 0
    match _untoken(token, "page_token"):
        case [int(row)] if row >= 0:
            return row
    raise invalid_field("page_token", token, "the next_page_token of the page before")


def effect_to_proto(effect: WithdrawalEffect) -> tuning_pb2.WithdrawalEffect:
    """The effect of withdrawing a labeler."""
    return tuning_pb2.WithdrawalEffect(
        votes=effect.votes,
        labels_lost=effect.labels_lost,
        labels_changed=effect.labels_changed,
        labels_gained=effect.labels_gained,
        queries_reopened=effect.queries_reopened,
        counts_before=codec.counts_to_proto(effect.before),
        counts_after=codec.counts_to_proto(effect.after),
    )


def labeler_to_proto(report: LabelerReport) -> tuning_pb2.LabelerReport:
    """The report on one labeler."""
    return tuning_pb2.LabelerReport(
        labeler=report.labeler,
        votes=codec.counts_to_proto(report.votes),
        asked=report.asked,
        unasked=report.unasked,
        unused=report.unused,
        retracted=report.retracted,
        median_answer_seconds=_defined(report.median_answer_seconds),
        compared=report.compared,
        agreement=_defined(report.agreement),
        repeats=report.repeats,
        self_consistency=_defined(report.self_consistency),
        withdrawn=report.withdrawn,
        last_answer_time=timestamp(report.last_answer_ms) if report.last_answer_ms else None,
        control_count=report.controls,
        control_right_count=report.controls_right,
        control_outlier_count=report.outlier_controls,
        control_outlier_right_count=report.outlier_controls_right,
        trust=_defined(report.trust),
    )


def agreement_to_proto(agreement: Agreement) -> tuning_pb2.Agreement:
    """The agreement of labelers."""
    return tuning_pb2.Agreement(
        observations=agreement.observations,
        observed=_defined(agreement.observed),
        cohen_kappa=_defined(agreement.cohen_kappa),
        fleiss_kappa=_defined(agreement.fleiss_kappa),
        fleiss_observations=agreement.fleiss_observations,
        krippendorff_alpha=_defined(agreement.krippendorff_alpha),
    )


def pair_to_proto(pair: PairAgreement) -> tuning_pb2.AgreementPair:
    """How two labelers, or two sources, agree."""
    return tuning_pb2.AgreementPair(
        first=pair.first,
        second=pair.second,
        both_inlier=pair.both_inlier,
        both_outlier=pair.both_outlier,
        inlier_outlier=pair.inlier_outlier,
        outlier_inlier=pair.outlier_inlier,
        cohen_kappa=_defined(pair.cohen_kappa),
    )


def finish_reason(outcome: LeaseOutcome) -> oracle_pb2.FinishReason:
    """Why a session asks a labeler nothing more."""
    if outcome.withdrawn:
        return oracle_pb2.FINISH_REASON_LABELER_WITHDRAWN
    if outcome.lacks_tags:
        return oracle_pb2.FINISH_REASON_TAGS_MISSING
    # A final state is a reason too, except COMPLETED.
    word = outcome.finish_reason or outcome.state.value
    known = words(oracle_pb2.FinishReason.DESCRIPTOR)
    number = known.get(word.lower(), int(oracle_pb2.FINISH_REASON_FINISHED))
    return cast(oracle_pb2.FinishReason, number)


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else figure


def _is_event_id(text: str) -> bool:
    # (What the store would refuse as one is no fault of the store.)
    match = _EVENT_ID.fullmatch(text)
    return not text or (match is not None and all(int(part) < 1 << 64 for part in match.groups()))


def _token(parts: list[object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _untoken(token: str, field: str) -> object:
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise invalid_field(field, token, "what an earlier response gave") from None
