"""Measure all competitors on one set, with the labels of sessions and with labels of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from svddtune.evaluation.aside import halves, labels_on_the_way, run_among
from svddtune.evaluation.competitors.detectors import (
    CLASSIFIERS,
    LABEL_FREE,
    classify,
    most_unusual,
)
from svddtune.evaluation.competitors.queries import ACTIVE, Active, random_labels
from svddtune.evaluation.competitors.searches import SEARCHES, Trials, fit_trials
from svddtune.evaluation.store import Record
from svddtune.evaluation.task import Task
from svddtune.numerics import (
    DEFAULT_STRATEGY,
    IndexArray,
    LabelArray,
    as_labels,
    class_counts,
    score,
)
from svddtune.numerics.refined import fit_refined

COUNTS = (25, 50)
"""Labels after which everything is judged."""
PARTS = ("all", "aside")
"""Judged on all rows, of which each may be asked about, or on the half that is set aside."""


def competitors(task: Task) -> Record:
    """Kappa of every competitor, for every seed: part -> labels -> "source detector" -> kappa."""
    X = task.views.raw
    trials = fit_trials(X)
    runs = []
    for seed in range(int(task.given["seeds"])):
        free = {
            name: most_unusual(scores(X, seed), class_counts(task.y)[1])
            for name, scores in LABEL_FREE.items()
        }
        known, hidden = halves(task.y, seed)
        judged = {"all": (task.y, task.y), "aside": (known, hidden)}
        runs.append({
            part: _Part(task, trials, free, *judged[part], seed).measured() for part in PARTS
        })  # fmt: skip
    return {"runs": runs}


@dataclass(slots=True)
class _Part:
    """One repetition: rows that may be asked about, and rows on which everything is judged."""

    task: Task
    trials: Trials
    free: dict[str, LabelArray]
    known: LabelArray
    judged: LabelArray
    seed: int
    found: dict[str, dict[str, float]] = field(default_factory=dict)

    def measured(self) -> dict[str, dict[str, float]]:
        result = run_among(
            self.task, self.known, strategy=DEFAULT_STRATEGY, budget=max(COUNTS), initial=2,
            seed=self.seed,
        )  # fmt: skip
        on_the_way = labels_on_the_way(result)
        first = np.flatnonzero(on_the_way[0])
        for count in COUNTS:
            at = min(count - len(first), len(on_the_way) - 1)
            cell = result.choices[at].cell
            self._put(count, "session svddtune", as_labels(self.task.atlas.outside(cell)))
            self._by_labels(count, "session", on_the_way[at])
            self._put(count, "session refined", self._refined(on_the_way[at]))
            for name, predictions in self.free.items():
                self._put(count, f"none {name}", predictions)
        drawn = random_labels(self.known, first, max(COUNTS), self.seed)
        for count in COUNTS:
            self._by_labels(count, "random", self._labels(drawn[:count]))
        for name in ACTIVE:
            session = Active(name, self.task.views.raw, self.seed)
            asked = session.ask(self.known, first, max(COUNTS))
            for count in COUNTS:
                labels = self._labels(asked[:count])
                self._put(count, f"{name} own", session.decide(labels))
                forest = classify("random_forest", self.task.views.raw, labels, self.seed)
                self._put(count, f"{name} random_forest", forest)
        return self.found

    def _by_labels(self, count: int, source: str, labels: LabelArray) -> None:
        """Everything that decides by labels alone."""
        for name, search in SEARCHES.items():
            self._put(count, f"{source} {name}", search(self.trials, labels, self.seed))
        for name in CLASSIFIERS:
            found = classify(name, self.task.views.raw, labels, self.seed)
            self._put(count, f"{source} {name}", found)

    def _refined(self, labels: LabelArray) -> LabelArray:
        raw = self.task.views.raw
        detector = fit_refined(self.task.refined_basis, raw, labels, seed=self.seed)
        return np.ones_like(labels) if detector is None else detector.predict(raw)

    def _labels(self, rows: IndexArray) -> LabelArray:
        labels = np.zeros_like(self.known)
        labels[rows] = self.known[rows]
        return labels

    def _put(self, count: int, name: str, predictions: LabelArray) -> None:
        kappas = self.found.setdefault(str(count), {})
        kappas[name] = float(score(self.judged, predictions))
