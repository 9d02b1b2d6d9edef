"""Parallel labelers: the cost of several open queries at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from matplotlib.figure import Figure

from svddtune.evaluation import comparison, page
from svddtune.evaluation.comparison import Comparison, Estimate, estimate
from svddtune.evaluation.drawing import COLORS, blank, save_all
from svddtune.evaluation.labelers import COUNTS, Labelers, Order
from svddtune.evaluation.methods import Method
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.store import Record
from svddtune.evaluation.summary import Records

COMMAND = "svddtune bench parallel"
METHODS = ("default", "default_cold", "disagreement", "lama")
OPEN = (1, 2, 5, 10)
GOAL = 0.02
"""Largest loss of kappa by open queries that is acceptable, default strategy, 50 labels."""
ORDERS: tuple[Order, ...] = get_args(Order)
_TITLES = {"oldest": "answered in order", "random": "answered in random order"}


def _name(open_queries: int, order: Order) -> str:
    return f"{open_queries} {order}" if open_queries > 1 else "1"


def settings() -> dict[str, Labelers]:
    """A setting per number of open queries and order of answers."""
    return {
        _name(n, order): Labelers(open=n, order=order if n > 1 else "oldest")
        for n in OPEN
        for order in ORDERS
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """Kappa of a method with a number of open queries.

    Attributes
    ----------
    method : str
    open : int
    order : {"oldest", "random"}
    labels : int
    kappa : Estimate
        On all rows, after so many labels.
    loss : Estimate
        Against one query at a time.
    both_after : float
        Mean answers, initial labels included, until both classes had a label.
    """

    method: str
    open: int
    order: Order
    labels: int
    kappa: Estimate
    loss: Estimate
    both_after: float


Outcomes = Mapping[tuple[str, int, Order, int], Outcome]


def outcomes(compared: Comparison, records: Records) -> dict[tuple[str, int, Order, int], Outcome]:
    """(method, open, order, labels) -> outcome."""
    found: dict[tuple[str, int, Order, int], Outcome] = {}
    for method in compared.methods:
        for labels in COUNTS:

            def kappa(record: Record, labels: int = labels) -> float:
                return float(record["observations"][str(labels)]["kappa"])

            one = compared.values(records, method, "1", kappa)
            for n in OPEN:
                for order in ORDERS:
                    several = compared.values(records, method, _name(n, order), kappa)
                    both = compared.values(records, method, _name(n, order), _both_after)
                    found[method.name, n, order, labels] = Outcome(
                        method.name, n, order, labels, estimate(several), estimate(one - several),
                        float(both.mean()),
                    )  # fmt: skip
    return found


def _both_after(record: Record) -> float:
    after = record["both_after"]
    return float(record["observations"][str(COUNTS[-1])]["votes"] if after is None else after)


def document(compared: Comparison, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    return {
        **comparison.document(compared, invocation),
        "outcomes": [asdict(one) for one in outcomes(compared, records).values()],
    }


def table(compared: Comparison, found: Outcomes, labels: int) -> str:
    """Kappa with one open query, and the loss with more, after a number of labels."""
    rows = [
        [f"{method.title}, {_TITLES[order]}", found[method.name, 1, order, labels].kappa.shown()]
        + [found[method.name, n, order, labels].loss.shown(signed=True) for n in OPEN[1:]]
        for method in compared.methods
        for order in ORDERS
    ]
    return markdown(["", "one at a time", *(f"lost with {n} open" for n in OPEN[1:])], rows)


def tables(compared: Comparison, records: Records) -> str:
    """The tables for the terminal."""
    found = outcomes(compared, records)
    return "\n".join(
        f"After {labels} labels:\n\n{table(compared, found, labels)}" for labels in COUNTS
    )


def write(folder: Path, compared: Comparison, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder, its picture beside it."""
    found = outcomes(compared, records)
    made = save_all(folder / "evaluation", _figures(compared, found))
    shown = page.pictures(made, {"parallel": _CAPTION}, COMMAND)
    text = page.fill(
        "parallel",
        command=invocation.command,
        took=invocation.took,
        scope=comparison.scope(compared.sets, compared.seeds),
        early=table(compared, found, COUNTS[0]),
        last=table(compared, found, COUNTS[-1]),
        meaning=_meaning(compared.methods, found),
        **shown,
    )
    return page.write_part(folder, "parallel", text)


_CAPTION = (
    "Kappa against the queries open at a time; bar: one standard error. Left: after "
    f"{COUNTS[0]} labels. Right: after {COUNTS[-1]}. Full lines: the oldest query is answered "
    "next; dotted: any."
)


def _meaning(methods: Sequence[Method], found: Outcomes) -> str:
    """The conclusion for users, from the first method."""
    lead, (early, last), (some, many) = methods[0], COUNTS, OPEN[-2:]
    late = [found[lead.name, many, order, last].loss for order in ORDERS]
    held = max(loss.mean for loss in late) <= GOAL
    significant = [
        f"{method.title} with {n} open, {_TITLES[order]}, {one.loss.shown(signed=True)}"
        for method in methods[1:]
        for n in OPEN[1:]
        for order in ORDERS
        if (one := found[method.name, n, order, last]).loss.stands_out
    ]
    return (
        f"Conclusion: {many} labelers at once cost {lead.title} {late[0].shown()} after {last} "
        f"labels if they answer in order and {late[1].shown()} if they do not, which is "
        f"{'within' if held else 'beyond'} the goal of {GOAL}. After {early} labels, "
        f"{many} open queries cost {found[lead.name, many, 'oldest', early].loss.shown()}, because "
        f"each is asked without the {many - 1} answers before it, and {some} open queries cost "
        f"{found[lead.name, some, 'oldest', early].loss.shown()}: with a small budget, keep no "
        "more than a fifth of it open at a time. "
        + (
            "Of the other sessions, these lose or gain more than two standard errors after "
            f"{last} labels: {'; '.join(significant)}.\n"
            if significant
            else f"No other session loses or gains more than two standard errors after {last} "
            "labels.\n"
        )
    )


def _figures(compared: Comparison, found: Outcomes) -> Iterator[tuple[str, Figure]]:
    figure = blank(8.6, 3.8)
    for axes, labels in zip(figure.subplots(1, 2, sharey=True), COUNTS, strict=True):
        for method in compared.methods:
            for order in ORDERS:
                kappas = [found[method.name, n, order, labels].kappa for n in OPEN]
                axes.errorbar(
                    OPEN, [one.mean for one in kappas], [one.error or 0.0 for one in kappas],
                    color=COLORS[method.name], marker="o", ms=3.5, lw=1.5,
                    ls="-" if order == "oldest" else ":",
                    label=method.title if order == "oldest" else None,
                )  # fmt: skip
        axes.set_title(f"after {labels} labels")
        axes.set_xlabel("queries open at a time")
        axes.set_xticks(OPEN)
    figure.axes[0].set_ylabel("kappa on all rows")
    handles, titles = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside upper center", ncols=len(titles))
    yield "parallel", figure
