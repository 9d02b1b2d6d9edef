"""Run the same sessions through the real service and compare their queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from svddtune.client import EmbeddedStack, KnownLabels, tune
from svddtune.client.errors import Unavailable
from svddtune.client.terminal.output import say
from svddtune.evaluation import plan as plans
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.report import markdown
from svddtune.evaluation.sets import BenchSet, load
from svddtune.evaluation.summary import Records

ROWS = ("lama", "lama_sample", "default", "default_cold", "disagreement")
"""Sessions that are compared. The service has no joint choice for random queries."""

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
        gamma and C agree.
    """

    method: str
    set: str
    queries: int
    same: int
    same_choice: bool


def compare(plan: Plan, records: Records) -> list[SameSession]:
    """Compare one session per strategy, with seed 0, on the smallest set.

    Nothing is compared if the service does not start; stderr says so.
    """
    data = min(plan.sets, key=lambda one: one.N)
    names = [method.name for method in plan.methods if method.name in ROWS]
    if not names:
        return []
    say(f"Running the same sessions through the service, on {data.name}: {', '.join(names)}")
    try:
        with EmbeddedStack(workers=2) as stack:
            return [_compared(stack.address, records, data, name) for name in names]
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
            str(one.queries),
            str(one.same),
            "yes" if one.same_choice else "no",
        ]
        for one in compared
    ]
    return markdown(["", "set", "queries", "the same, in order", "gamma and C the same"], rows)


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
        server=address,
    )
    asked = [int(one) for one in tuned.queries]
    final = record["points"][-1]
    close = all(
        abs(ours - theirs) <= _ROUNDING * abs(theirs)
        for ours, theirs in ((tuned.gamma, final["gamma"]), (tuned.C, final["C"]))
    )
    same = sum(a == b for a, b in zip(asked, record["queries"], strict=False))
    return SameSession(name, data.name, len(asked), same, close)
