"""Reports of dry runs and replays of tickets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from svddtune.text import visible

if TYPE_CHECKING:
    from rich.console import Console

    from svddtune.client.tickets.preview import Preview
    from svddtune.client.tickets.replay import Sent
    from svddtune.client.tickets.report import Report, Some

_SAYS = {
    "abstains": "abstains",
    "open": "abstains: open",
    "none": "abstains: no verdict",
    "unmapped": "abstains: not mapped",
}
_REFUSALS = 20


def show_report(console: Console, report: Report, preview: Preview | None) -> None:
    """Print a dry run."""
    changes = f" with {', '.join(report.overrides)}" if report.overrides else ""
    console.print(
        f"{report.tickets:,} tickets in {report.records:,} records, mapping "
        f"{visible(report.mapping)} {visible(report.mapping_version)}{visible(changes)}"
    )
    values = Table(box=None, pad_edge=False)
    values.add_column("value", overflow="fold")
    values.add_column("says")
    values.add_column("tickets", justify="right")
    values.add_column("on an observation", justify="right")
    for row in report.values:
        says = row.verdict.value if row.verdict else _SAYS[row.verdict_status.value]
        if row.confidence is not None:
            says += f" ({row.confidence:g})"
        values.add_row(visible(row.value or "-"), says, f"{row.tickets:,}", f"{row.matched:,}")
    console.print(values)
    console.print(_coverage(report))
    for line in _faults(report):
        console.print(visible(line))
    if preview is not None:
        console.print(visible(_session(preview)))
        if report.observations not in (None, preview.observations):
            console.print(
                _warning(
                    f"The file has {report.observations:,} observations, the session has "
                    f"{preview.observations:,}."
                )
            )
    for warning in report.warnings:
        console.print(_warning(warning))


def _warning(text: str) -> Text:
    return Text.assemble(("!", "yellow"), f" {visible(text)}")


def sent_line(sent: Sent) -> str:
    """Return the counts so far as a line."""
    parts = [
        (sent.answered, "queries answered"),
        (sent.skipped, "passed to others"),
        (sent.labelled, "verdicts given without a query"),
        (sent.corrected, "corrected"),
        (sent.retracted, "retracted"),
        (sent.unused, "too late to count"),
        (sent.left, "over the budget"),
        (len(sent.refused), "refused"),
    ]
    return ", ".join(f"{count} {what}" for count, what in parts if count) or "nothing to send"


def refusal_lines(sent: Sent) -> list[str]:
    """Return the first refusals, a line each."""
    lines = [
        f"observation {refusal.observation_id!r}, ticket {refusal.ticket!r}: "
        f"{refusal.message} [{refusal.reason}]"
        for refusal in sent.refused[:_REFUSALS]
    ]
    more = len(sent.refused) - len(lines)
    return [*lines, f"and {more} more"] if more else lines


def _coverage(report: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("observations")
    table.add_column("", justify="right")
    table.add_row("inlier", f"{report.inliers:,}")
    table.add_row("outlier", f"{report.outliers:,}")
    table.add_row("tickets contradict each other", f"{report.clashes.count:,}")
    silent = report.covered - report.labelled - report.clashes.count
    table.add_row("tickets abstain", f"{silent:,}")
    if report.observations is not None:
        table.add_row("no ticket", f"{report.observations - report.covered:,}")
        share = report.labelled / report.observations
        table.add_row("with a verdict", f"{share:.2%} of {report.observations:,}")
    return table


def _faults(report: Report) -> Iterable[str]:
    unmatched = report.unmatched
    if unmatched.count:
        yield (
            f"Tickets that match no observation: {unmatched.count:,} "
            f"({report.unmatched_with_verdict:,} with a verdict): {_names(unmatched)}"
        )
    if report.several.count:
        yield f"Tickets that match several observations, and so abstain: {report.several.count:,}"
        for multiple in report.several.first:
            ids = ", ".join(multiple.observation_ids[:10])
            yield f"  {multiple.ticket} ({multiple.place}): {ids}"
    if report.clashes.count:
        yield f"Observations on which tickets contradict each other: {report.clashes.count:,}"
        for clash in report.clashes.first:
            verdicts = ", ".join(f"{ticket} {verdict.value}" for ticket, verdict in clash.verdicts)
            yield f"  {clash.observation_id}: {verdicts}"
    if report.near_misses.count:
        yield f"Near misses, which were not joined: {report.near_misses.count:,}"
        for near in report.near_misses.first:
            yield (
                f"  ticket {near.ticket} ({near.place}) has {near.ticket_has}, an observation "
                f"has {near.observation_has}"
            )
    if report.doubts.count:
        yield f"Tickets whose time is ambiguous, and so abstain: {report.doubts.count:,}"
        for doubt in report.doubts.first:
            yield f"  {doubt.ticket}: {doubt.why}"
    if report.changed_verdicts:
        yield f"Tickets whose verdict changed (the last one counts): {report.changed_verdicts:,}"
    if report.same_verdict_twice:
        yield f"Observations with several tickets that agree: {report.same_verdict_twice:,}"


def _names(some: Some) -> str:
    shown = ", ".join(map(str, some.first[:5]))
    return f"{shown}, ..." if some.count > 5 else shown


def _session(preview: Preview) -> str:
    text = (
        f"{preview.session} ({preview.state}): {preview.labels} of {preview.budget} labels, room "
        f"for {preview.room}; the tickets have {preview.verdicts} verdicts"
    )
    if preview.agreeing or preview.differing:
        text += f"; {preview.agreeing} agree with the votes of others, {preview.differing} differ"
    if preview.given:
        text += f"; {preview.given} were given earlier"
    return text
