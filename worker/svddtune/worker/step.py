"""One job: read what it needs, run the numerics, commit the outcome."""

from collections.abc import Callable

import numpy as np

from svddtune import numerics
from svddtune.numerics import LabelArray
from svddtune.state.queue import Claim
from svddtune.state.workspace import Snapshot, Workspace
from svddtune.v1 import jobs_pb2
from svddtune.worker.data import DataCache
from svddtune.worker.plan import fit_jobs, make_plan
from svddtune.worker.result import assemble, model_pieces


def label_array(snapshot: Snapshot) -> LabelArray:
    """Labels of a session as an array: +1, -1, 0."""
    labels: LabelArray = np.zeros(snapshot.session.observation_count, dtype=np.int8)
    for row, verdict in snapshot.labels.items():
        labels[row] = verdict
    return labels


def rule_in_force(strategy: str, labels: LabelArray) -> str:
    """Which rule ranks the rows: the strategy, or a cold start while a class is missing."""
    if strategy == "random":
        return "random"
    inliers, outliers = numerics.class_counts(labels)
    if inliers == 0:
        return "cold_random"
    return "lama" if outliers else "cold_outlying"


class Steps:
    """Runs jobs. Every method may run twice for one job: the commit lets one outcome count."""

    def __init__(self, workspace: Workspace, cache: DataCache) -> None:
        self._workspace = workspace
        self._cache = cache
        self._by_kind: dict[str, Callable[[Claim], None]] = {
            "PREPARE": self._prepare,
            "SUGGEST": self._suggest,
            "PLAN": self._plan,
            "FIT": self._fit,
            "ESTIMATE": self._estimate,
        }

    def run(self, claim: Claim) -> None:
        """Do the job and commit it.

        Raises NotFound where its data are gone, ClaimLost, StoreUnavailable, or whatever the
        numerics raise.
        """
        self._by_kind[claim.kind](claim)

    def _prepare(self, claim: Claim) -> None:
        k = claim.job.prepare.k
        prepared = numerics.prepare(self._cache.data(claim).X, k=k)
        self._workspace.commit_prepare(claim, k, prepared.to_arrays())

    def _suggest(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None or snapshot.session.state.ended:
            self._workspace.commit_nothing(claim)
            return
        config = snapshot.session.config
        labels = label_array(snapshot)
        suggestion = numerics.suggest(
            self._cache.preparation(claim, snapshot),
            self._cache.data(claim).X,
            labels,
            k=config.k,
            strategy="random" if config.strategy == "random" else "lama",
            sample=config.candidate_sample,
            rng=numerics.query_rng(config.seed, snapshot.rev, snapshot.session.query_count),
            exclude=np.array(sorted(snapshot.dropped), dtype=np.int64),
            open_rows=np.array(sorted(snapshot.open_rows), dtype=np.int64),
        )
        self._workspace.commit_suggest(
            claim,
            snapshot.rev,
            gamma=suggestion.gamma,
            alignment=suggestion.alignment or 0.0,
            rule=rule_in_force(config.strategy, labels),
            rows=suggestion.rows.tolist(),
            scores=suggestion.scores.tolist(),
        )

    def _plan(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None or snapshot.session.state.ended:
            self._workspace.commit_nothing(claim)
            return
        plan = make_plan(
            self._cache.preparation(claim, snapshot),
            self._cache.data(claim).X,
            label_array(snapshot),
            snapshot.session.config,
        )
        plan.started_s = snapshot.estimating_ms / 1000
        self._workspace.commit_plan(
            claim, snapshot.attempt, plan, fit_jobs(plan, snapshot.session.id, snapshot.attempt)
        )

    def _fit(self, claim: Claim) -> None:
        job = claim.job.fit
        fits = numerics.fit_cells(
            self._cache.data(claim).X, gamma=job.gamma, C=np.array(job.c, dtype=np.float64)
        )
        output = jobs_pb2.FitOutput()
        for model, outside in zip(fits.models, fits.outside, strict=True):
            output.cells.add(
                gamma=model.gamma,
                c=model.C,
                r2=model.R2,
                degenerate=model.degenerate,
                support_vector_count=len(model.rows),
                outside_count=int(outside.sum()),
                outside=np.packbits(outside).tobytes(),
            )
        self._workspace.commit_fit(claim, job.attempt, output)

    def _estimate(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None or snapshot.session.state.ended:
            self._workspace.commit_nothing(claim)
            return
        plan, outputs = self._workspace.fits(claim)
        data = self._cache.data(claim)
        prepared = self._cache.preparation(claim, snapshot)
        log = self._workspace.label_log(claim)
        result, model = assemble(
            plan, outputs, data, prepared, label_array(snapshot), snapshot, log
        )
        self._workspace.commit_estimate(
            claim,
            snapshot.attempt,
            result,
            plan.alignment,
            model_pieces(model, data, result),
        )
