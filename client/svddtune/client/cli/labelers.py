"""``svddtune labelers``: reports on labelers, and withdrawing one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svddtune.client.cli.confirm import check_can_ask, confirm
from svddtune.client.cli.names import SessionName, Yes
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import evidence, figure, print_json, say, stdout, tell
from svddtune.config import SETTINGS
from svddtune.text import visible

if TYPE_CHECKING:
    from svddtune.client.labelers import Agreement, LabelerReport, WithdrawalEffect
    from svddtune.client.types import LabelCounts, LiveEvidence, Session

LEAST_CONTROLS = 10


class _ShowUnlessTold(typer.core.TyperGroup):
    """``labelers SESSION`` is ``labelers show SESSION``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["show", *args]
        return list(super().parse_args(ctx, args))


labelers = typer.Typer(
    cls=_ShowUnlessTold,
    help="Show who labelled a session and how well they agree: labelers SESSION.",
    no_args_is_help=True,
)

_Labeler = Annotated[
    str, typer.Argument(metavar="LABELER", help="Name of the labeler, as the table shows it.")
]


@labelers.command("show")
@on_service
def show(
    session: SessionName,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Show who labelled SESSION, how fast, and how well they agree."""
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.json_values import jsonable

    with service.connect() as client:
        found = find_session(client, service, session)
        name = found.name
        reports, agreement = client.list_labelers(name)
    if as_json:
        print_json({"labelers": jsonable(reports), "agreement": jsonable(agreement)})
        return
    if not reports:
        say(f"Nobody has labelled {name} yet.")
        return
    stdout().print(_table(reports))
    for line in (*_agreement_lines(agreement), *_control_lines(reports)):
        tell(line)
    for line in trust_hints(found, reports, service.command):
        say(line)


@labelers.command("withdraw")
@on_service
def withdraw(
    session: SessionName,
    labeler: _Labeler,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show the effect without withdrawing.")
    ] = False,
    yes: Yes = False,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Make all votes of LABELER in SESSION void, including later ones."""
    from svddtune.client.cli.lookup import find_session

    asks = not preview and not yes
    check_can_ask(
        yes=not asks, as_json=as_json, instead="--yes, or --preview to see the effect first"
    )
    with service.connect() as client:
        name = find_session(client, service, session).name
        if preview or asks:
            effect = client.withdraw_labeler(name, labeler, preview=True)
        if asks:
            say("\n".join(effect_lines(effect, f"Withdrawing {visible(labeler)}", void=True)))
            confirm("Withdraw?", yes=False)
        if not preview:
            effect = client.withdraw_labeler(name, labeler)
    _tell(effect, f"{'Withdrawing' if preview else 'Withdrew'} {visible(labeler)}", True, as_json)


@labelers.command("reinstate")
@on_service
def reinstate(
    session: SessionName,
    labeler: _Labeler,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Let the votes of a withdrawn LABELER count again."""
    from svddtune.client.cli.lookup import find_session

    with service.connect() as client:
        name = find_session(client, service, session).name
        effect = client.reinstate_labeler(name, labeler)
    _tell(effect, f"Reinstated {visible(labeler)}", False, as_json)


def effect_lines(effect: WithdrawalEffect, what: str, *, void: bool) -> list[str]:
    """Return the effect of a withdrawal (`void`) or reinstatement as lines."""
    votes = _count(effect.votes, "vote")
    becomes = ("becomes" if effect.votes == 1 else "become") + " void"
    counts = becomes if void else ("counts" if effect.votes == 1 else "count") + " again"
    lines = [
        f"{what}: {votes} {counts}",
        f"  labels: {_counts(effect.counts_before)} -> {_counts(effect.counts_after)}",
        f"  observations that lose their label: {effect.labels_lost}, "
        f"change it: {effect.labels_changed}, gain one: {effect.labels_gained}",
        f"  queries reopened: {effect.queries_reopened}",
    ]
    if effect.live_before is not None and effect.live_after is not None:
        lines.append(f"  before: {_live(effect.live_before)}")
        lines.append(f"  after:  {_live(effect.live_after)}")
    return lines


def _tell(effect: WithdrawalEffect, what: str, void: bool, as_json: bool) -> None:
    from svddtune.client.json_values import jsonable

    if as_json:
        print_json(jsonable(effect))
    else:
        tell("\n".join(effect_lines(effect, what, void=void)))


def _table(reports: tuple[LabelerReport, ...]) -> Any:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("labeler", overflow="fold")
    for name in ("answers", "inlier", "outlier", "unsure", "pace", "agrees", "consistent"):
        table.add_column(name, justify="right")
    for report in reports:
        votes = report.votes
        table.add_row(
            visible(report.labeler) + (" (withdrawn)" if report.withdrawn else ""),
            str(report.asked + report.unasked),
            *(str(count) for count in (votes.inlier, votes.outlier, votes.unsure)),
            _pace(report.median_answer_seconds),
            _share(report.agreement, report.compared),
            _share(report.self_consistency, report.repeats),
        )
    return table


def _agreement_lines(agreement: Agreement) -> list[str]:
    if not agreement.observations:
        return ["No observation has two votes, so agreement cannot be measured."]
    lines = [
        f"On {_count(agreement.observations, 'observation')} with two votes or more: "
        f"{agreement.observed:.0%} of the pairs of votes agree"
    ]
    figures = {
        "Cohen's kappa": agreement.cohen_kappa,
        f"Fleiss' kappa (on {agreement.fleiss_observations})": agreement.fleiss_kappa,
        "Krippendorff's alpha": agreement.krippendorff_alpha,
    }
    known = [f"{name} {figure(value, 3)}" for name, value in figures.items() if value == value]
    return lines + (["  " + ", ".join(known)] if known else [])


def _control_lines(reports: tuple[LabelerReport, ...]) -> list[str]:
    return [
        f"{visible(report.labeler)}: {report.controls_right} of "
        f"{_count(report.controls, 'control item')} right "
        f"({report.outlier_controls_right} of {_count(report.outlier_controls, 'outlier')}), "
        f"trust {report.trust:.0%}"
        for report in reports
        if report.controls
    ]


def trust_hints(
    session: Session, reports: Iterable[LabelerReport], command: Callable[..., str]
) -> Iterator[str]:
    """Yield what to do about the trusts that control items tell, with the command that does it.

    Few items say little: a labeler needs `LEAST_CONTROLS`.
    """
    if session.state.ended or session.state.value == "estimating":
        return
    id_ = session.name.removeprefix("sessions/")
    measured = {
        report.labeler: round(report.trust, 2)
        for report in reports
        if report.controls >= LEAST_CONTROLS and not report.withdrawn
    }
    lowest = SETTINGS["trusts"].low or 0.0
    trusts = dict(session.config.trusts)
    trusts |= {name: trust for name, trust in measured.items() if trust > lowest}
    if trusts != session.config.trusts:
        given = [
            word for name in sorted(trusts) for word in ("--trust", f"{name}={trusts[name]:g}")
        ]
        yield f"Let votes count by trust with: {command('session', 'update', id_, *given)}"
    for name, trust in measured.items():
        if trust <= lowest:
            preview = command("labelers", "withdraw", id_, name, "--preview")
            yield f"{visible(name)} errs as often as not. See what is left with: {preview}"


def _share(value: float, of: int) -> str:
    return f"{value:.0%} of {of}" if value == value else "-"


def _pace(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds == seconds else "-"


def _count(count: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"


def _counts(counts: LabelCounts) -> str:
    return f"{counts.total} ({counts.inlier} inlier, {counts.outlier} outlier)"


def _live(live: LiveEvidence) -> str:
    return f"{evidence(live)}, {live.outside_count} outside"
