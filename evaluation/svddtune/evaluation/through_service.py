"""Run the same sessions through the real service and compare their queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from svddtune.client import EmbeddedStack, KnownLabels, TuningResult, tune
from svddtune.client.errors import Unavailable
from svddtune.client.terminal.output import say
from svddtune.evaluation import plan as plans
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.report import markdown
from svddtune.evaluation.sets import BenchSet, load
from svddtune.evaluation.summary import Records
from svddtune.evaluation.task import LOCALITY
from svddtune.numerics import Strategy, Views, run

ROWS = ("lama", "lama_sample", "default", "default_cold", "disagreement")
"""Sessions that are compared. The service has no joint choice for random queries."""

SETS = 3
"""So many of the smallest sets are compared on."""
ONE_CLASS = {"inliers": 1, "outliers": -1}
"""Sessions of the default, from no label, whose answers are all of one class."""

_ONE_CLASS_BUDGET = 12
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class SameSession:
    """A session through the service, compared with the same one in process.

    Attributes
    ----------
    method, set : str
    queries : int
        That the service asked.
    same : int
        How many of them are the same at the same place.
    same_choice : bool
        Representation, gamma and C agree.
    answers : str
        What the answers are: "truth", or all of one class, as in `ONE_CLASS`.
    """

    method: str
    set: str
    answers: str
    queries: int
    same: int
    same_choice: bool


def compare(plan: Plan, records: Records) -> list[SameSession]:
    """Compare one session per strategy, with seed 0, on each of the smallest sets.

    With the default among the methods, so are sessions with answers of one class. Nothing is
    compared if the service does not start; stderr says so.
    """
    sets = sorted(plan.sets, key=lambda one: one.N)[:SETS]
    names = [method.name for method in plan.methods if method.name in ROWS]
    if not names:
        return []
    on = ", ".join(data.name for data in sets)
    say(f"Running the same sessions through the service, on {on}: {', '.join(names)}")
    try:
        with EmbeddedStack(workers=2) as stack:
            found = [
                _compared(stack.address, records, data, name) for name in names for data in sets
            ]
            if "default" in names:
                found += [
                    _one_class(stack.address, data, answers)
                    for answers in ONE_CLASS
                    for data in sets
                ]
            return found
    except Unavailable as error:
        say(f"Not compared with the service: {error.message}")
        return []


def document(compared: Sequence[SameSession]) -> list[dict[str, Any]]:
    """All of it as plain values."""
    return [asdict(one) for one in compared]


def table(plan: Plan, compared: Sequence[SameSession]) -> str:
    """All of it for people."""
    titles = {method.name: method.title for method in plan.methods}
    rows = [
        [
            titles[one.method],
            one.set,
            one.answers if one.answers == "truth" else f"all {one.answers}",
            str(one.queries),
            str(one.same),
            "yes" if one.same_choice else "no",
        ]
        for one in compared
    ]
    return markdown(["", "set", "answers", "queries", "the same, in order", "same choice"], rows)


def _compared(address: str, records: Records, data: BenchSet, name: str) -> SameSession:
    method = METHODS[name]
    record = records[plans.session(data, method, 0).key]
    X, y = load(data.path)
    tuned = tune(
        X,
        KnownLabels(y),
        budget=min(method.labels, data.N),
        strategy=method.strategy,
        seed=0,
        initial=(method.initial, method.initial),
        scaling=method.scaling,
        server=address,
    )
    final = record["points"][-1]
    expected = (final.get("scaling", method.scaling), final["gamma"], final["C"])
    return _same(name, data, "truth", tuned, record["queries"], expected)


def _one_class(address: str, data: BenchSet, answers: str) -> SameSession:
    method, label = METHODS["default"], ONE_CLASS[answers]
    X, _ = load(data.path)
    budget = min(_ONE_CLASS_BUDGET, data.N)
    views = Views(X, method.scaling)
    ours = run(
        views, lambda _row: label, budget=budget, k=LOCALITY,
        strategy=cast(Strategy, method.strategy), seed=0, initial=(0, 0), choice="atlas",
    )  # fmt: skip
    tuned = tune(
        X,
        lambda _query: label,
        budget=budget,
        strategy=method.strategy,
        seed=0,
        scaling=method.scaling,
        server=address,
    )
    expected = (ours.final.scaling, ours.final.gamma, ours.final.model.C)
    return _same(method.name, data, answers, tuned, ours.queries.tolist(), expected)


def _same(
    name: str,
    data: BenchSet,
    answers: str,
    tuned: TuningResult,
    queries: Sequence[int],
    expected: tuple[str, float, float],
) -> SameSession:
    asked = [int(one) for one in tuned.queries]
    scaling, *numbers = expected
    close = scaling == tuned.model.scaling and all(
        abs(theirs - ours) <= _ROUNDING * abs(ours)
        for theirs, ours in zip((tuned.gamma, tuned.C), numbers, strict=True)
    )
    same = sum(a == b for a, b in zip(asked, queries, strict=False))
    return SameSession(name, data.name, answers, len(asked), same, close)
