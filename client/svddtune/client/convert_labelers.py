"""Reports on labelers: protobuf messages -> the client's values."""

from __future__ import annotations

from svddtune.client.convert import counts_from_proto, live_from_proto, time_from_proto
from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
from svddtune.v1 import tuning_pb2


def report_from_proto(report: tuning_pb2.LabelerReport) -> LabelerReport:
    """Return what one labeler did."""
    return LabelerReport(
        labeler=report.labeler,
        votes=counts_from_proto(report.votes),
        asked=report.asked,
        unasked=report.unasked,
        unused=report.unused,
        retracted=report.retracted,
        median_answer_s=report.median_answer_s,
        compared=report.compared,
        agreement=report.agreement,
        repeats=report.repeats,
        self_consistency=report.self_consistency,
        withdrawn=report.withdrawn,
        last_answer_time=time_from_proto(report.last_answer_time),
    )


def agreement_from_proto(agreement: tuning_pb2.Agreement) -> Agreement:
    """Return how well labelers agree."""
    return Agreement(
        observations=agreement.observations,
        observed=agreement.observed,
        cohen_kappa=agreement.cohen_kappa,
        fleiss_kappa=agreement.fleiss_kappa,
        fleiss_observations=agreement.fleiss_observations,
        krippendorff_alpha=agreement.krippendorff_alpha,
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
