"""Conversion of results from Protobuf messages to the client's values."""

from __future__ import annotations

from svddtune.client.result import (
    AlignmentPoint,
    Comparison,
    GridCell,
    Manifest,
    RefinedResult,
    Result,
)
from svddtune.client.wire.convert import (
    detectors_from_proto,
    figure,
    quality_from_proto,
    scaling_from_proto,
    share_from_proto,
    time_from_proto,
    verdict_from_proto,
)
from svddtune.config import from_proto
from svddtune.config.words import word_of
from svddtune.v1 import result_pb2


def result_from_proto(result: result_pb2.TuningResult) -> Result:
    """Return the result, without its model."""
    manifest = result.manifest
    return Result(
        name=result.name,
        scaling=scaling_from_proto(result.scaling),
        gamma=result.gamma,
        C=result.c,
        nu=result.nu,
        C_bounds=(result.c_min, result.c_max),
        quality=quality_from_proto(result.quality),
        audit=quality_from_proto(result.audit) if result.HasField("audit") else None,
        outlier_share=(
            share_from_proto(result.outlier_share) if result.HasField("outlier_share") else None
        ),
        expected_gain=result.expected_gain if result.HasField("expected_gain") else None,
        choice=word_of(result_pb2.Choice.DESCRIPTOR, result.choice),
        c_curve=tuple(
            GridCell(
                C=cell.c,
                nu=cell.nu,
                score=cell.score,
                outside_count=cell.outside_count,
                support_vector_count=cell.support_vector_count,
                R2=cell.r2,
                degenerate=cell.degenerate,
            )
            for cell in result.c_curve
        ),
        alignment_curve=tuple(
            AlignmentPoint(point.gamma, point.alignment) for point in result.alignment_curve
        ),
        comparisons=tuple(
            Comparison(
                rule.name,
                rule.gamma,
                rule.nu,
                figure(rule, "score"),
                rule.outside_count,
                figure(rule, "best_c_score"),
                rule.outside,
                scaling_from_proto(rule.scaling),
            )
            for rule in result.comparisons
        ),
        manifest=Manifest(
            versions=dict(manifest.versions),
            dataset_hash=manifest.dataset_hash,
            seed=manifest.seed,
            last_event_id=manifest.last_event_id,
            labeled_rows=tuple(manifest.labeled_rows),
            verdicts=tuple(verdict_from_proto(value) for value in manifest.verdicts),
            query_rows=tuple(manifest.query_rows),
            kernel_mean_sample=manifest.kernel_mean_sample,
            fit_sample=manifest.fit_sample,
            provenances=dict(manifest.provenances),
            config=from_proto(manifest.config) if manifest.HasField("config") else None,
            scaling=scaling_from_proto(manifest.scaling),
            base_scaling=scaling_from_proto(manifest.base_scaling),
            atlas_scalings=tuple(map(scaling_from_proto, manifest.atlas_scalings)),
            belief_scaling=scaling_from_proto(manifest.belief_scaling),
            certainties=tuple(manifest.certainties),
            origins=dict(manifest.origins),
        ),
        notes=tuple(result.notes),
        outside_count=result.outside_count,
        support_vector_count=result.support_vector_count,
        estimate_seconds=result.estimate_seconds,
        refined=_refined(result.refined) if result.HasField("refined") else None,
        create_time=time_from_proto(result.create_time),
    )


def _refined(refined: result_pb2.RefinedResult) -> RefinedResult:
    return RefinedResult(
        comparison=(
            detectors_from_proto(refined.comparison) if refined.HasField("comparison") else None
        ),
        outside_count=refined.outside_count,
    )
