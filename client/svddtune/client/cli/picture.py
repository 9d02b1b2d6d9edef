"""One picture of a run: quality over C, alignment over gamma, the data, and the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from svddtune.client import pictures
from svddtune.client.phrases import many
from svddtune.client.result import TuningResult
from svddtune.client.types import FloatArray, LabelArray, Verdict
from svddtune.text import visible


def draw(
    path: Path,
    tuned: TuningResult,
    X: FloatArray,
    *,
    truth: LabelArray | None = None,
    truth_kappa: float | None = None,
    default_kappas: Mapping[str, float] | None = None,
) -> Path:
    """Write the picture as PNG; return its path.

    Raises
    ------
    NotInstalled
        Without matplotlib, which comes with the extra ``pictures``.
    """
    with pictures.new_figure(11, 8) as figure:
        axes = figure.subplots(2, 2)
        figure.suptitle(
            f"{visible(tuned.dataset.display_name or tuned.dataset.name)}: "
            f"{tuned.scaling}, gamma = {tuned.gamma:.4g}, C = {tuned.C:.4g} (nu = {tuned.nu:.3g}) "
            f"from {many(tuned.quality.counts.total, 'label')}",
            fontsize=13,
            fontweight="bold",
            parse_math=False,  # no mathematics: a name may hold dollar signs
        )
        pictures.draw_costs(axes[0, 0], tuned.result)
        pictures.draw_alignment(axes[0, 1], tuned.result)
        asked = {
            verdict: [one.row for one in tuned.asked if one.verdict is verdict]
            for verdict in Verdict
        }
        Z = tuned.model.scaled(X)
        pictures.draw_rows(axes[1, 0], Z, tuned.model.predict(X), asked, truth)
        kappas = None
        if truth_kappa is not None and default_kappas:
            kappas = {"tuned": truth_kappa, **default_kappas}
        pictures.draw_comparisons(axes[1, 1], tuned.result, true_kappas=kappas)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="png", metadata={"Software": "svddtune"})
    return path
