"""Wrong votes: how much they cost, and how much of it remedies recover.

The remedies are further votes, and telling the session how often votes are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from matplotlib.figure import Figure

from svddtune.evaluation import comparison, page
from svddtune.evaluation.comparison import Comparison, Estimate, estimate
from svddtune.evaluation.drawing import BLUE, GREEN, GREY, INK, RED, blank, save_all
from svddtune.evaluation.labelers import COUNTS, Labelers
from svddtune.evaluation.methods import Method
from svddtune.evaluation.report import Invocation, markdown
from svddtune.evaluation.store import Record
from svddtune.evaluation.summary import Records
from svddtune.numerics.certainty import MOST_NOISE

Per = Literal["observations", "votes"]
PER: tuple[Per, ...] = get_args(Per)

COMMAND = "svddtune bench noise"
METHODS = ("default", "disagreement", "lama", "random")
SHARE = 0.1
TITLES = {
    "clean": "no mistakes",
    "single": "one vote",
    "told": "one vote, rate told",
    "always": "always two votes",
    "adaptive": "two where the first surprises",
}
_BUDGET = str(COUNTS[-1])
REMEDIES = ("told", "always", "adaptive")
_COLORS = {"single": RED, "told": GREY, "always": BLUE, "adaptive": GREEN}


def settings(share: float) -> dict[str, Labelers]:
    """Labelers without mistakes, and labelers with mistakes by the remedy."""
    return {
        "clean": Labelers(),
        "single": Labelers(wrong=share),
        "told": Labelers(wrong=share, told=min(share, MOST_NOISE)),
        "always": Labelers(wrong=share, votes=2, limit=3),
        "adaptive": Labelers(wrong=share, votes=2, limit=3, rule="adaptive"),
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """Kappa of a method under a setting, after 50 labelled observations or 50 votes.

    Attributes
    ----------
    method, setting : str
    per : {"observations", "votes"}
    kappa : Estimate
        On all rows.
    loss : Estimate
        Against labelers without mistakes.
    back : Estimate
        Against one vote each.
    observations : float
        Labelled, mean.
    votes_each : float
        Mean votes per queried observation.
    wrong : float
        Share of the labels in force that are not the truth.
    """

    method: str
    setting: str
    per: Per
    kappa: Estimate
    loss: Estimate
    back: Estimate
    observations: float
    votes_each: float
    wrong: float


Outcomes = Mapping[tuple[str, str, Per], Outcome]


def outcomes(compared: Comparison, records: Records) -> dict[tuple[str, str, Per], Outcome]:
    """(method, setting, per) -> outcome."""
    found: dict[tuple[str, str, Per], Outcome] = {}
    for method in compared.methods:
        for setting in compared.settings:
            for per in PER:
                found[method.name, setting, per] = _outcome(compared, records, method, setting, per)
    return found


def _outcome(
    compared: Comparison, records: Records, method: Method, setting: str, per: Per
) -> Outcome:
    def values(setting: str, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return compared.values(records, method, setting, lambda one: float(one[per][_BUDGET][name]))

    def asked(record: Record) -> float:
        last = record[per][_BUDGET]
        return float((last["votes"] - record["initial"]) / (last["labels"] - record["initial"]))

    kappa, labels = values(setting, "kappa"), values(setting, "labels")
    return Outcome(
        method.name,
        setting,
        per,
        estimate(kappa),
        estimate(values("clean", "kappa") - kappa),
        estimate(kappa - values("single", "kappa")),
        float(labels.mean()),
        float(compared.values(records, method, setting, asked).mean()),
        float((values(setting, "wrong") / labels).mean()),
    )


def document(compared: Comparison, records: Records, invocation: Invocation) -> dict[str, Any]:
    """The document of --json."""
    return {
        **comparison.document(compared, invocation),
        "outcomes": [asdict(one) for one in outcomes(compared, records).values()],
    }


def observations_table(compared: Comparison, found: Outcomes) -> str:
    """After 50 labelled observations."""
    rows = []
    for method in compared.methods:
        of = {setting: found[method.name, setting, "observations"] for setting in compared.settings}
        row = [method.title, of["clean"].kappa.shown(), of["single"].kappa.shown()]
        row.append(of["single"].loss.shown(signed=True))
        for setting in REMEDIES:
            row += [of[setting].back.shown(signed=True), f"{of[setting].votes_each:.2f}"]
        rows.append(row)
    head = ["", TITLES["clean"], TITLES["single"], "lost"]
    for setting in REMEDIES:
        head += [f"regained: {TITLES[setting]}", "votes per observation"]
    return markdown(head, rows)


def votes_table(compared: Comparison, found: Outcomes) -> str:
    """After 50 votes."""
    rows = []
    for method in compared.methods:
        row = [method.title, found[method.name, "single", "votes"].kappa.shown()]
        for setting in REMEDIES:
            one = found[method.name, setting, "votes"]
            row += [one.back.shown(signed=True), f"{one.observations:.0f}"]
        rows.append(row)
    head = ["", TITLES["single"]]
    for setting in REMEDIES:
        head += [f"gained: {TITLES[setting]}", "observations"]
    return markdown(head, rows)


def wrong_table(compared: Comparison, found: Outcomes) -> str:
    """Share of labels that are wrong after 50 observations."""
    shown = [setting for setting in compared.settings if setting != "clean"]
    rows = [
        [method.title]
        + [f"{found[method.name, setting, 'observations'].wrong:.1%}" for setting in shown]
        for method in compared.methods
    ]
    return markdown(["wrong labels", *(TITLES[setting] for setting in shown)], rows)


def tables(compared: Comparison, records: Records) -> str:
    """The tables for the terminal."""
    found = outcomes(compared, records)
    made = (observations_table(compared, found), votes_table(compared, found))
    return "\n".join(made)


def write(folder: Path, compared: Comparison, records: Records, invocation: Invocation) -> Path:
    """Write the part of evaluation.md in a folder, its picture beside it."""
    found = outcomes(compared, records)
    made = save_all(folder / "evaluation", _figures(compared, found))
    share = compared.settings["single"].wrong
    shown = page.pictures(made, {"noise": _caption(share)}, COMMAND)
    text = page.fill(
        "noise",
        command=invocation.command,
        took=invocation.took,
        scope=comparison.scope(compared.sets, compared.seeds),
        share=f"{share:.0%}",
        observations=observations_table(compared, found),
        votes=votes_table(compared, found),
        wrong=wrong_table(compared, found),
        meaning=_meaning(compared.methods, found),
        **shown,
    )
    return page.write_part(folder, "noise", text)


def _caption(share: float) -> str:
    return (
        f"Kappa lost to {share:.0%} wrong votes, by how many votes are sought; bar: one standard "
        f"error. Left: after {_BUDGET} labelled observations. Right: after {_BUDGET} votes."
    )


def _meaning(methods: Sequence[Method], found: Outcomes) -> str:
    """The conclusion for users, from the first method."""
    lead = methods[0]
    clean, single, told, always, adaptive = (
        found[lead.name, setting, "observations"] for setting in TITLES
    )
    significant = [
        f"{method.title} {TITLES[setting]} {one.back.shown(signed=True)}"
        for method in methods
        for setting in REMEDIES
        if (one := found[method.name, setting, "votes"]).back.stands_out
    ]
    return (
        f"Conclusion: such answers cost {lead.title} {single.loss.shown()} of its kappa of "
        f"{clean.kappa.mean:.3f}. A session that is told the rate of mistakes regains "
        f"{told.back.shown()} without a further vote. A second vote on every observation lowers "
        f"the share of wrong labels from {single.wrong:.1%} to {always.wrong:.1%} and regains "
        f"{always.back.shown()}, for {always.votes_each:.1f} votes per observation. A second vote "
        f"only if the first surprises lowers it to {adaptive.wrong:.1%} and regains "
        f"{adaptive.back.shown()}, for {adaptive.votes_each:.1f} votes per observation. So overlap "
        "helps if observations are the limit. "
        + (
            "For the same total number of votes, these differ from one vote each by more than two "
            f"standard errors: {', '.join(significant)}; the others do not.\n"
            if significant
            else "It does not help if votes are the limit: for the same total number of votes, no "
            "method differs from one vote each by more than two standard errors, so a new "
            "observation is worth as much as another vote.\n"
        )
    )


def _figures(compared: Comparison, found: Outcomes) -> Iterator[tuple[str, Figure]]:
    figure = blank(8.6, 3.8)
    for axes, per in zip(figure.subplots(1, 2, sharey=True), PER, strict=True):
        width = 0.8 / len(_COLORS)
        for place, (setting, color) in enumerate(_COLORS.items()):
            losses = [found[method.name, setting, per].loss for method in compared.methods]
            at = np.arange(len(losses)) + (place - (len(_COLORS) - 1) / 2) * width
            axes.bar(
                at, [loss.mean for loss in losses], 0.92 * width, color=color,
                yerr=[loss.error or 0.0 for loss in losses], ecolor=INK,
                label=TITLES[setting],
            )  # fmt: skip
        axes.axhline(0, color=GREY, lw=0.8)
        axes.set_xticks(range(len(compared.methods)), [one.title for one in compared.methods])
        axes.set_title(f"after {_BUDGET} {'labelled observations' if per == PER[0] else 'votes'}")
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(axis="x", length=0)
    figure.axes[0].set_ylabel("kappa lost")
    handles, titles = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside upper center", ncols=len(titles))
    yield "noise", figure
