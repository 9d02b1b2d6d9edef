"""The same sessions through the real service: both must ask the same."""

from __future__ import annotations

from svddtune.bench import plan as plans
from svddtune.bench.methods import METHODS
from svddtune.bench.plan import Plan
from svddtune.bench.report import markdown
from svddtune.bench.sets import BenchSet, load
from svddtune.bench.summary import Records
from svddtune.client import EmbeddedStack, KnownLabels, tune

ROWS = ("lama", "lama_sample", "default", "default_cold", "disagreement")


def agreement_table(plan: Plan, records: Records) -> str:
    """One session per strategy with seed 0, on the smallest set, in process and by the service."""
    data = min(plan.sets, key=lambda one: one.N)
    names = [method.name for method in plan.methods if method.name in ROWS]
    rows = []
    if names:
        with EmbeddedStack(workers=2) as stack:
            rows = [_row(stack.address, plan, records, data, name) for name in names]
    return markdown(["", "set", "queries", "the same, in order", "gamma and C the same"], rows)


def _row(address: str, plan: Plan, records: Records, data: BenchSet, name: str) -> list[str]:
    method = METHODS[name]
    record = records[plans.session(data, method, 0).key]
    X, y = load(data.path)
    tuned = tune(
        X,
        KnownLabels(y),
        budget=method.labels,
        strategy=method.strategy,
        seed=0,
        initial=(method.initial, method.initial),
        server=address,
    )
    asked = [int(one) for one in tuned.queries]
    final = record["points"][-1]
    close = all(
        abs(ours - theirs) <= 1e-9 * abs(theirs)
        for ours, theirs in ((tuned.gamma, final["gamma"]), (tuned.C, final["C"]))
    )
    same = sum(a == b for a, b in zip(asked, record["queries"], strict=False))
    return [method.title, data.name, str(len(asked)), str(same), "yes" if close else "no"]
