"""One job: read what it needs, run the numerics, commit the outcome."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svddtune import numerics
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import codec
from svddtune.state.queue import Claim
from svddtune.state.session import RankedRow
from svddtune.state.workspace import Workspace
from svddtune.v1 import result_pb2
from svddtune.worker import pictures
from svddtune.worker.advice import add_advice
from svddtune.worker.audit import audited_rows
from svddtune.worker.data import DataCache
from svddtune.worker.explanation import explain
from svddtune.worker.export import model_pieces
from svddtune.worker.live import live_evidence
from svddtune.worker.outlook import add_outlook, outlook
from svddtune.worker.plan import fit_jobs, plan_by_alignment, plan_from_atlas
from svddtune.worker.portrait import portrait_of
from svddtune.worker.preview import preview
from svddtune.worker.ranking import as_controls, rank
from svddtune.worker.refined import compare_detectors, fit_detector, refined_result
from svddtune.worker.result import Evidence, assemble
from svddtune.worker.rules import RULES, evaluate_rule, missing_rules
from svddtune.worker.scalings import scaling_kind, scaling_word
from svddtune.worker.votes import effective_labels, labels_in_force


class Steps:
    """Runs jobs. A job may run twice; the commit accepts one outcome."""

    def __init__(
        self, workspace: Workspace, cache: DataCache, *, part_s: float = numerics.PART_S
    ) -> None:
        """``part_s``: about how long a part of a preparation takes."""
        self._part_s = part_s
        self._workspace = workspace
        self._cache = cache
        self._by_kind: dict[str, Callable[[Claim], None]] = {
            "PREPARE": self._prepare,
            "SUGGEST": self._suggest,
            "PLAN": self._plan,
            "FIT": self._fit,
            "ESTIMATE": self._estimate,
            "ATLAS": self._atlas,
            "PREVIEW": self._preview,
            "REFINE": self._refine,
        }

    def run(self, claim: Claim) -> None:
        """Do the job and commit it.

        Raises NotFound where its data are gone, ClaimLost, StoreUnavailable, or whatever the
        numerics raise.
        """
        self._by_kind[claim.kind](claim)

    def drop(self, claim: Claim) -> None:
        """End a job that nobody needs. Raises ClaimLost, StoreUnavailable."""
        self._workspace.commit_nothing(claim)

    def _prepare(self, claim: Claim) -> None:
        job, X = claim.job.prepare, self._cache.data(claim).X
        rows = numerics.panel_rows(len(X)) if job.panel else None
        course = numerics.PreparationCourse.of(
            X, k=job.k, rows=rows, gamma_bounds=codec.gamma_bounds(job), part_s=self._part_s
        )
        last = job.part == len(course.parts) - 1
        # A part needs the one before it; to put all together takes all.
        before: dict[str, NDArray[Any]] = {}
        for index in range(0 if last else max(0, job.part - 1), job.part):
            before |= self._workspace.prepared_part(claim, index)
        made = course.run(job.part, before)
        if last:
            arrays = course.join(before | made).to_arrays()
            self._workspace.commit_prepare(claim, arrays, self._new_portrait(claim))
        else:
            self._workspace.commit_part(claim, made)

    def _suggest(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None or snapshot.session.state.ended:
            self._workspace.commit_nothing(claim)
            return
        data, lattice = self._cache.data(claim), self._cache.lattice(claim, snapshot)
        ranking = rank(snapshot, self._cache.preparation(claim, snapshot), data, lattice)
        config, suggestion, live = snapshot.session.config, ranking.suggestion, None
        if suggestion.choice is not None:
            live = live_evidence(suggestion.choice, ranking.labels, config.metric)
            add_outlook(live, suggestion.outlook, snapshot)
            add_advice(live, snapshot.history(), config.budget)
        explanations = explain(
            [*ranking.candidates, *as_controls(ranking, snapshot)],
            data,
            scaling=suggestion.choice.scaling if suggestion.choice else data.views.base,
            labels=ranking.labels,
            asked_by=snapshot.asked_by,
            observation_ids=lambda rows: self._workspace.observation_ids(claim, rows),
            config=config,
        )
        self._workspace.commit_suggest(
            claim,
            snapshot,
            gamma=suggestion.gamma,
            scaling=live.scaling if live and config.needs_atlas else scaling_kind(data.views.base),
            alignment=suggestion.alignment,
            ranking=[
                RankedRow(one.row, predicted, explanation)
                for one, predicted, explanation in zip(
                    ranking.candidates, ranking.predicted.tolist(), explanations, strict=False
                )
            ],
            controls=[
                RankedRow(row, explanation=explanation)
                for row, explanation in zip(
                    snapshot.next_controls, explanations[len(ranking.candidates) :], strict=False
                )
            ],
            live=live,
            pictures=(
                pictures.of_ranking(snapshot, data, lattice, suggestion.evidence)
                if pictures.are_due(snapshot)
                else None
            ),
            finish=bool(live and live.stop and config.auto_finish),
        )

    def _preview(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None:
            self._workspace.commit_nothing(claim)
            return
        self._workspace.commit_preview(
            claim,
            preview(
                snapshot,
                claim.job.preview.labeler,
                self._cache.lattice(claim, snapshot),
            ),
        )

    def _refine(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None or snapshot.session.state.ended:
            self._workspace.commit_nothing(claim)
            return
        labels = effective_labels(snapshot, without=audited_rows(snapshot))
        lattice, comparison, shown = self._cache.lattice(claim, snapshot), None, None
        if lattice is not None:
            data = self._cache.data(claim)
            comparison = compare_detectors(data, lattice, labels, snapshot.session.config)
            shown = pictures.of_best_cell(snapshot, data, lattice)
        self._workspace.commit_refine(
            claim,
            snapshot.session.counts.total,
            comparison,
            shown,
            portrait=self._new_portrait(claim),
        )

    def _plan(self, claim: Claim) -> None:
        snapshot = self._workspace.snapshot(claim)
        if snapshot is None or snapshot.session.state.ended:
            self._workspace.commit_nothing(claim)
            return
        config, views = snapshot.session.config, self._cache.data(claim).views
        labels = labels_in_force(snapshot, without=audited_rows(snapshot))
        lattice = self._cache.lattice(claim, snapshot)
        missing = [*missing_rules(self._workspace.rules(claim))]
        if config.needs_atlas and lattice is not None:
            plan = plan_from_atlas(lattice.atlas, lattice.basis, labels, config)
            plan.fits.extend(jobs_pb2.PlannedFit(purpose=name) for name in missing)
        else:
            prepared = self._cache.preparation(claim, snapshot)
            plan = plan_by_alignment(
                prepared, views, labels.values, config, with_rules=bool(missing)
            )
        plan.started_seconds = snapshot.estimating_ms / 1000
        self._workspace.commit_plan(
            claim, snapshot.attempt, plan, fit_jobs(plan, snapshot.session.id, snapshot.attempt)
        )

    def _fit(self, claim: Claim) -> None:
        job = claim.job.fit
        if job.rule:
            found = evaluate_rule(self._cache.data(claim).X, job.rule)
            self._workspace.commit_fit(claim, job.attempt, found)
            return
        fits = numerics.fit_cells(
            self._cache.data(claim).views.X, gamma=job.gamma, C=np.array(job.c, dtype=np.float64)
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
        prepared, audited = self._cache.preparation(claim, snapshot), audited_rows(snapshot)
        in_force = labels_in_force(snapshot, without=audited)
        labels = in_force.values
        evidence = Evidence(
            labels=labels,
            certainty=in_force.certainty,
            noise=in_force.noise,
            answered=effective_labels(snapshot) if len(audited) else labels,
            audited=audited,
            lattice=self._cache.lattice(claim, snapshot),
            prep=prepared,
            log=self._workspace.label_log(claim),
            rules=self._rules(claim, plan, outputs),
        )
        result, model = assemble(plan, outputs, data, snapshot, evidence)
        add_outlook(result, outlook(snapshot, evidence.lattice, in_force), snapshot)
        detector = None
        if plan.choice == result_pb2.CHOICE_ATLAS and evidence.lattice is not None:
            config = snapshot.session.config
            detector = fit_detector(data, labels, config)
            if detector is not None:
                result.refined.CopyFrom(
                    refined_result(detector, data, evidence.lattice, labels, config)
                )
        self._workspace.commit_estimate(
            claim,
            snapshot.attempt,
            result,
            plan.alignment,
            model_pieces(model, data, result, detector),
            point=pictures.last_point(snapshot, result, plan.alignment),
            pictures=pictures.of_result(
                snapshot, data, evidence.lattice, in_force, model, scaling_word(result.scaling)
            ),
            portrait=self._new_portrait(claim),
        )

    def _new_portrait(self, claim: Claim) -> jobs_pb2.Portrait | None:
        """The portrait of the job's dataset; None where it has one.

        Datasets that an earlier version prepared have none, so later jobs make it too.
        """
        if self._workspace.has_portrait(claim):
            return None
        return portrait_of(self._cache.data(claim))

    def _rules(
        self, claim: Claim, plan: jobs_pb2.GridPlan, outputs: list[jobs_pb2.FitOutput]
    ) -> dict[str, jobs_pb2.FitOutput]:
        """Outputs of all label-free rules in their order, or of the few that the plan fitted."""
        planned = {
            part.purpose: output
            for part, output in zip(plan.fits, outputs, strict=True)
            if part.purpose != "grid"
        }
        known = self._workspace.rules(claim) | planned
        return {name: known[name] for name in RULES if name in known}

    def _atlas(self, claim: Claim) -> None:
        if not self._workspace.atlas_is_wanted(claim):
            self._workspace.commit_nothing(claim)
            return
        data, job = self._cache.data(claim), claim.job.atlas
        views, survey = data.views, data.survey
        part = numerics.lattice_part(views, job.index, codec.gamma_bounds(job))
        panel = None if survey is None else survey.panel.rows
        fitted = numerics.fit_atlas_part(views, part, panel=panel)
        self._workspace.commit_atlas(claim, fitted.to_arrays())
