"""The report of a run: for people, as JSON, and as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from svddtune.client.cli import picture
from svddtune.client.cli.outside import OUTSIDE_FILE, outside_table, write_outside
from svddtune.client.errors import NotInstalled
from svddtune.client.model import cohen_kappa
from svddtune.client.phrases import many
from svddtune.client.result import TuningResult
from svddtune.client.terminal.output import (
    compared,
    estimated,
    expected,
    figure,
    gamma_of,
    say,
    stdout,
)
from svddtune.client.types import FloatArray, LabelArray, TakenOver, Verdict

MODEL_FILE, RESULT_FILE, PICTURE_FILE = "model.npz", "result.json", "picture.png"
# Rows of the table; the files and the JSON document hold all.
_OUTSIDE_SHOWN = 20
_LIBRARY_DEFAULT = "sklearn_default"


@dataclass(slots=True)
class Report:
    """A finished run, the truth where it is known, and the files to write."""

    tuned: TuningResult
    X: FloatArray
    truth: LabelArray | None = None
    dropped: int = 0
    warnings: Sequence[Mapping[str, str]] = ()
    files: dict[str, str] = field(default_factory=dict)
    truth_kappa: float | None = None
    default_kappas: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.truth is None:
            return
        self.truth_kappa = cohen_kappa(self.truth, self.tuned.predict(self.X))
        for rule in self.tuned.result.comparisons:
            predictions = rule.predictions(len(self.X))
            if predictions is not None:
                self.default_kappas[rule.name] = cohen_kappa(self.truth, predictions)

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        document = self.tuned.to_dict()
        document["seconds"]["estimate"] = self.tuned.result.estimate_seconds
        document["truth"] = (
            None
            if self.truth_kappa is None
            else {"kappa": self.truth_kappa, "defaults": self.default_kappas}
        )
        document["dropped"] = self.dropped
        document["warnings"] = [dict(warning) for warning in self.warnings]
        document["files"] = dict(self.files)
        return document

    def write(self, folder: Path, *, picture: bool = True) -> None:
        """Write model, rows outside, result.json and, where it can be drawn, the picture."""
        folder.mkdir(parents=True, exist_ok=True)
        self.files = {
            "model": str(self.tuned.model.save(folder / MODEL_FILE)),
            "outside": str(write_outside(folder / OUTSIDE_FILE, self.tuned.outside)),
        }
        if picture:
            self._draw(folder)
        self.files["result"] = str(folder / RESULT_FILE)
        text = json.dumps(self.document(), indent=2, allow_nan=False)
        (folder / RESULT_FILE).write_text(text + "\n")

    def _draw(self, folder: Path) -> None:
        try:
            drawn = picture.draw(
                folder / PICTURE_FILE,
                self.tuned,
                self.X,
                truth=self.truth,
                truth_kappa=self.truth_kappa,
                default_kappas=self.default_kappas,
            )
        except NotInstalled as error:
            say(f"No picture was drawn. {error.message}")
        else:
            self.files["picture"] = str(drawn)

    def show(self, next_commands: Mapping[str, str]) -> None:
        """Print it for people."""
        console = stdout()
        console.print(self._asked_title(), style="bold")
        console.print(self._figures())
        if self.tuned.outside:
            console.print(outside_table(self.tuned.outside, shown=_OUTSIDE_SHOWN))
        if self.tuned.result.comparisons:
            console.print(self._comparison_table())
        for note in self.tuned.notes:
            console.print(f"Note: {note}", markup=False)
        if taken := self.tuned.session.taken_over:
            console.print(f"Note: {taken_note(taken)}", markup=False)
        if self.dropped:
            console.print(
                f"Note: {self.dropped} queries were about rows without a label; these rows were "
                f"dropped from the session."
            )
        console.print(self._seconds(), markup=False)
        for kind, path in self.files.items():
            console.print(f"{kind.capitalize():>8}  {path}", markup=False, soft_wrap=True)
        if next_commands:
            console.print("\nNext:")
        for command, what in next_commands.items():
            console.print(f"  {command}   # {what}", markup=False, soft_wrap=True)

    def _asked_title(self) -> str:
        asked = self.tuned.asked
        by_verdict = {v: sum(1 for a in asked if a.verdict is v) for v in Verdict}
        skipped = sum(1 for a in asked if a.verdict is None)
        parts = [f"{n} {v.value}" for v, n in by_verdict.items() if n]
        parts += [f"{skipped} skipped"] if skipped else []
        return (
            f"{len(self.tuned.initial)} initial labels, {len(asked)} queries: "
            f"{', '.join(parts) or 'none'}"
        )

    def _figures(self) -> Any:
        from rich.table import Table

        tuned, quality = self.tuned, self.tuned.quality
        low, high = tuned.C_bounds
        interval = quality.interval
        spread = (
            f"   {interval.level:.0%} interval [{figure(interval.low, 3)}, "
            f"{figure(interval.high, 3)}]"
            if interval
            else "   not known"
        )
        grid = Table(show_header=False, box=None, title="Result", title_justify="left")
        grid.title_style = "bold"
        grid.add_column(style="bold")
        grid.add_column(overflow="fold")
        by_labels = tuned.dataset.scaling == "auto" and tuned.result.choice == "atlas"
        grid.add_row("scaling", tuned.scaling + ("   chosen by the labels" if by_labels else ""))
        grid.add_row("gamma", figure(tuned.gamma, 5))
        grid.add_row("C", f"{figure(tuned.C, 5)}   in [{figure(low, 4)}, {figure(high, 4)}]")
        grid.add_row("nu", f"{figure(tuned.nu, 4)}   = 1 / (N C)")
        grid.add_row(f"{quality.metric} on labels", figure(quality.value, 3) + spread)
        audit = tuned.audit
        if audit is not None:
            text = figure(audit.value, 3)
            if audit.interval:
                low_high = f"[{figure(audit.interval.low, 3)}, {figure(audit.interval.high, 3)}]"
                text += f"   {audit.interval.level:.0%} interval {low_high}, for all rows"
            grid.add_row(f"{audit.metric} by audit", text)
        counts = quality.counts
        grid.add_row("labels", f"{counts.inlier} inlier, {counts.outlier} outlier")
        outside, n = tuned.result.outside_count, tuned.dataset.observation_count
        grid.add_row("outliers", f"{outside} of {n} rows ({outside / n:.1%})")
        if tuned.outlier_share is not None:
            grid.add_row("true share", estimated(tuned.outlier_share))
        if tuned.expected_gain is not None:
            gain = expected(tuned.expected_gain)
            grid.add_row("10 more labels", f"kappa expected to rise by {gain}")
        refined = tuned.refined
        if refined is not None:
            if refined.comparison is not None:
                grid.add_row("held out", compared(refined.comparison))
            grid.add_row(
                "refined", f"{refined.outside_count} of {n} rows ({refined.outside_count / n:.1%})"
            )
        if self.truth_kappa is not None:
            grid.add_row("true kappa", f"{self.truth_kappa:.3f}   on all {n} rows")
        return grid

    def _comparison_table(self) -> Any:
        """Return the scores of the run, scikit-learn's default and the best label-free rule."""
        from rich.table import Table

        tuned = self.tuned
        table = Table(
            title="Rules that use no labels, scored on the same labels",
            title_justify="left",
            title_style="bold",
            box=None,
        )
        columns = ["", "gamma", "nu", "outliers", tuned.quality.metric]
        for name in [*columns, "true kappa"] if self.truth_kappa is not None else columns:
            table.add_column(name, justify="left" if not name else "right")
        rules = tuned.result.comparisons
        best = max(rules, key=lambda rule: -2.0 if np.isnan(rule.score) else rule.score)
        shown = [rule for rule in rules if rule.name == _LIBRARY_DEFAULT or rule is best]
        rows = [
            (
                "tuned",
                gamma_of(tuned.gamma, tuned.scaling),
                tuned.nu,
                tuned.result.outside_count,
                tuned.quality.value,
            ),
            *(
                (r.name, gamma_of(r.gamma, r.scaling), r.nu, r.outside_count, r.score)
                for r in shown
            ),
        ]
        kappas = {"tuned": self.truth_kappa, **self.default_kappas}
        for name, gamma, nu, outside, score in rows:
            cells = [name, gamma, figure(nu, 3), str(outside), figure(score, 3)]
            if self.truth_kappa is not None:
                cells.append(figure(kappas.get(name), 3))
            table.add_row(*cells, style="bold" if name == "tuned" else None)
        return table

    def _seconds(self) -> str:
        t = self.tuned.timings
        text = (
            f"{t.total:.1f} s: starting {t.start:.1f}, data {t.upload:.2f}, preparing "
            f"{t.prepare:.2f}, labels {t.label:.2f}, result {t.estimate:.2f}"
        )
        if t.per_query:
            p50, p95 = np.percentile(t.per_query, [50, 95]) * 1000
            text += f". From an answer to the next query: {p50:.1f} ms median, {p95:.1f} ms p95"
        return text


def taken_note(taken: TakenOver) -> str:
    """Return a sentence on the labels that a session took over."""
    left = f"; {taken.left_out} left out" if taken.left_out else ""
    were = "was" if taken.taken == 1 else "were"
    return f"{many(taken.taken, 'label')} {were} taken over from {taken.source}{left}."
