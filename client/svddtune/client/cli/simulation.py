"""Runs a session with simulated labelers and reports on it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from svddtune.client.client import TuningClient
from svddtune.client.errors import UsageError
from svddtune.client.files.data import Data
from svddtune.client.json_values import jsonable
from svddtune.client.labelers import Agreement, LabelerReport
from svddtune.client.model import cohen_kappa
from svddtune.client.oracles import SimulatedLabeler
from svddtune.client.oracles.simulated_group import SimulatedGroup
from svddtune.client.result import Result
from svddtune.client.runs.asking import Progress
from svddtune.client.runs.embedded import EmbeddedStack
from svddtune.client.terminal.output import figure, stdout
from svddtune.client.tuning import Tuning
from svddtune.client.types import Quality, Session, Verdict
from svddtune.config import SessionConfig

if TYPE_CHECKING:
    from rich.table import Table

    from svddtune.client.model import SvddModel


@dataclass(frozen=True, slots=True)
class Simulation:
    """A finished session with simulated labelers, compared with the truth.

    `wall_clock_s` is the simulated time of the last answer that counted; `took_s` is the real
    duration of the simulation.
    """

    session: Session
    result: Result
    kappa: float
    wrong_labels: int
    known_rows: int
    labelers: Sequence[SimulatedLabeler]
    reports: Sequence[LabelerReport]
    agreement: Agreement
    wall_clock_s: float
    stalled: bool
    took_s: float

    @property
    def votes(self) -> int:
        """Votes in force, "unsure" among them."""
        return sum(report.votes.total + report.votes.unsure for report in self.reports)

    @property
    def cost(self) -> float:
        """Cost of all answers, including late ones and repeats."""
        return sum(labeler.cost for labeler in self.labelers)

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        result, counts = self.result, self.result.quality.counts
        return jsonable(  # type: ignore[no-any-return]
            {
                "session": self.session.name,
                "config": self.session.config,
                "kappa": self.kappa,
                "rows_with_truth": self.known_rows,
                "scaling": result.scaling,
                "gamma": result.gamma,
                "C": result.C,
                "quality": result.quality,
                "audit": result.audit,
                "labels": {
                    "total": counts.total,
                    "inlier": counts.inlier,
                    "outlier": counts.outlier,
                    "wrong": self.wrong_labels,
                },
                "votes": self.votes,
                "answers": sum(labeler.answers for labeler in self.labelers),
                "cost": self.cost,
                "wall_clock_s": self.wall_clock_s,
                "busy_s": sum(labeler.busy_s for labeler in self.labelers),
                "agreement": self.agreement,
                "labelers": [self._labeler(labeler) for labeler in self.labelers],
                "stalled": self.stalled,
                "notes": result.notes,
                "took_s": self.took_s,
            }
        )

    def show(self) -> None:
        """Print it for people."""
        console = stdout()
        console.print(self._figures())
        console.print(self._labeler_table())
        if self.stalled:
            console.print(
                "Note: the session was finished before its budget was spent, because it needed "
                "votes that no labeler could give."
            )
        for note in self.result.notes:
            console.print(f"Note: {note}", markup=False)

    def _figures(self) -> Table:
        from rich.table import Table

        result, config = self.result, self.session.config
        counts = result.quality.counts
        title = f"Simulation: {len(self.labelers)} labelers, budget {config.budget}"
        if config.overlap > 1:
            title += f", overlap {config.overlap} ({config.overlap_rule})"
        grid = Table(show_header=False, box=None, title=title, title_justify="left")
        grid.title_style = "bold"
        grid.add_column(style="bold")
        grid.add_column(overflow="fold")
        grid.add_row("true kappa", f"{figure(self.kappa, 3)}   on {self.known_rows} rows")
        grid.add_row(f"{result.quality.metric} on labels", _quality(result.quality))
        if result.audit is not None:
            grid.add_row(f"{result.audit.metric} by audit", _quality(result.audit))
        wrong = f", {self.wrong_labels} wrong" if self.wrong_labels else ""
        grid.add_row(
            "labels", f"{counts.total}: {counts.inlier} inlier, {counts.outlier} outlier{wrong}"
        )
        each = f" ({self.votes / counts.total:.2f} a label)" if counts.total else ""
        grid.add_row("votes", f"{self.votes}{each}")
        grid.add_row("cost", f"{self.cost:g}")
        grid.add_row("wall-clock", duration(self.wall_clock_s))
        grid.add_row("agreement", self._agreement())
        return grid

    def _agreement(self) -> str:
        agreement = self.agreement
        if not agreement.observations:
            return "-   no observation has two votes"
        return (
            f"{agreement.observed:.0%} of pairs equal, Krippendorff's alpha "
            f"{figure(agreement.krippendorff_alpha, 2)}   on {agreement.observations} rows"
        )

    def _labeler_table(self) -> Table:
        from rich.table import Table

        table = Table(box=None)
        table.add_column("labeler", no_wrap=True)
        for name in ("answers", "wrong", "unsure", "passed", "cost", "time", "agrees", "same"):
            table.add_column(name, justify="right", no_wrap=True)
        for labeler in self.labelers:
            row = self._labeler(labeler)
            table.add_row(
                row["labeler"],
                *(str(row[key]) for key in ("answers", "wrong", "unsure", "passed_on")),
                f"{row['cost']:g}",
                duration(row["busy_s"]),
                figure(row["agreement"], 3),
                figure(row["self_consistency"], 3),
            )
        return table

    def _labeler(self, labeler: SimulatedLabeler) -> dict[str, Any]:
        report = next((r for r in self.reports if r.labeler == labeler.name), None)
        return {
            "labeler": labeler.name,
            "answers": labeler.answers,
            "wrong": labeler.wrong,
            "unsure": labeler.unsure_answers,
            "passed_on": labeler.passed_on,
            "cost": labeler.cost,
            "busy_s": labeler.busy_s,
            "agreement": report.agreement if report else None,
            "self_consistency": report.self_consistency if report else None,
        }


def run_simulation(
    source: Data,
    labelers: Sequence[SimulatedLabeler],
    config: SessionConfig,
    *,
    name: str,
    scaling: str,
    from_session: str | None,
    server: str | None,
    tls_ca: Path | None,
    workers: int,
    real_time: bool,
    on_progress: Callable[[Progress], None],
) -> Simulation:
    """Run a session with `labelers` to its result; delays are simulated unless `real_time`."""
    started = time.monotonic()
    group = SimulatedGroup(labelers, real_time=real_time)
    with contextlib.ExitStack() as stack:
        on_progress(Progress("starting", config.budget))
        embedded = stack.enter_context(EmbeddedStack(workers)) if server is None else None
        address = server or (embedded and embedded.address) or ""
        client = stack.enter_context(
            TuningClient(
                address,
                tls_ca=tls_ca if server is not None else None,
                client_cert=None if server is not None else "",
                client_key=None if server is not None else "",
                token=None if server is not None else "",
            )
        )
        _check_names(client.server_info().caller, labelers)
        on_progress(Progress("uploading", config.budget))
        dataset = client.upload_dataset(
            source.X,
            name=name,
            observation_ids=source.ids if source.has_ids else None,
            feature_names=source.feature_names,
            display=source.display,
            scaling=scaling,
        )
        session = client.create_session(
            dataset, config, from_session=from_session, name=f"simulation of {name}"
        )
        on_progress(Progress("preparing", session.config.budget))
        group.label(client, session, on_answer=_Newest(on_progress))
        on_progress(Progress("estimating", session.config.budget))
        session = client.wait_until_completed(session)
        result = client.result(session)
        reports, agreement = client.list_labelers(session)
        kappa, known_rows = _true_kappa(source, client.model(session))
        on_progress(Progress("done", session.config.budget))
    return Simulation(
        session=session,
        result=result,
        kappa=kappa,
        wrong_labels=_wrong_labels(source, result),
        known_rows=known_rows,
        labelers=labelers,
        reports=reports,
        agreement=agreement,
        wall_clock_s=group.ended_s,
        stalled=group.stalled,
        took_s=time.monotonic() - started,
    )


def _check_names(caller: str, labelers: Sequence[SimulatedLabeler]) -> None:
    """Raise UsageError where the service takes labels in the caller's own name only."""
    if caller and [one.name for one in labelers] != [caller]:
        raise UsageError(
            f"The service takes labels from {caller!r} in that name only, and simulated labelers "
            f"have names of their own. Leave out --server, so that the simulation starts a service "
            f"of its own; or give one that asks nobody who they are"
        )


def duration(seconds: float) -> str:
    """Return a duration as text: 0.4 s, 12 min 5 s, 3 h 7 min."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


class _Newest:
    """Reports the newest progress of the session; each labeler knows a different one."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._total = 0

    def __call__(self, tuning: Tuning) -> None:
        session, counts = tuning.session, tuning.counts
        if counts.total > self._total:
            self._total = counts.total
            budget = session.config.budget
            self._report(
                Progress(
                    "labeling",
                    budget,
                    counts,
                    session.gamma,
                    session.alignment,
                    session.live,
                    scaling=session.scaling,
                )
            )


def _true_kappa(source: Data, model: SvddModel) -> tuple[float, int]:
    """Return kappa of the model on the rows with truth, and how many they are."""
    rows = [row for row, verdict in source.known.items() if verdict is not Verdict.UNSURE]
    truth = np.array([source.known[row].sign for row in rows])
    return cohen_kappa(truth, model.predict(source.X[rows])), len(rows)


def _wrong_labels(source: Data, result: Result) -> int:
    """Return how many labels in force contradict the truth."""
    manifest = result.manifest
    return sum(
        source.known[row] is not verdict
        for row, verdict in zip(manifest.labeled_rows, manifest.verdicts, strict=True)
    )


def _quality(quality: Quality) -> str:
    text = figure(quality.value, 3)
    if quality.interval:
        low, high = figure(quality.interval.low, 3), figure(quality.interval.high, 3)
        text += f"   {quality.interval.level:.0%} interval [{low}, {high}]"
    return text
