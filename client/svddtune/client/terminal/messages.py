"""Messages to the labeler, as plain text."""

from __future__ import annotations

from statistics import median

from svddtune.client.phrases import many
from svddtune.client.result import Result
from svddtune.client.terminal.commands import PROBABLY
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.output import compared, estimated, expected, figure, gamma_of
from svddtune.client.terminal.requests import Card, Notice, Retract, Sent, Skip, said
from svddtune.client.types import Adjudication, Session, SessionState
from svddtune.text import on_one_line

_FEW_PACES = 3

KEYS_HELP = (
    ("i", "inlier", "normal: it belongs to the bulk of the data"),
    ("o", "outlier", "not normal: it stands apart from the data"),
    (
        "k",
        "probably inlier",
        f"more likely than not: counts as right with probability {PROBABLY:g}",
    ),
    ("l", "probably outlier", "likewise"),
    ("u", "unsure", "you looked and cannot tell; you are not asked about it again"),
    ("z", "undo", "takes back your last answer and asks again; press it again to go further back"),
    ("s", "later", "asks you about it again later"),
    ("x", "others", "leaves it to other labelers; you are not asked about it again"),
    ("d", "drop", "drops the observation from the session, for all labelers"),
    ("f", "features", "shows all features and fields"),
    ("?", "help", "shows this page"),
    ("q", "quit", "gives the question back and quits; so does Ctrl-C"),
)
REASONS = {
    "BUDGET_SPENT": "the budget of labels is spent",
    "POOL_EXHAUSTED": "there is nothing left to ask about",
    "FINISHED": "the session was finished",
    "CANCELLED": "the session was cancelled",
    "FAILED": "the session has failed",
    "DELETED": "the session was deleted",
    "COMPLETED": "the session is completed",
    "LABELER_WITHDRAWN": "your votes in the session were withdrawn",
    "TAGS_MISSING": "the session asks only labelers with certain tags; give yours with --tag",
}
# The session goes on without this labeler.
FOR_YOU_ALONE = frozenset({"LABELER_WITHDRAWN", "TAGS_MISSING"})


def title(session: Session | None, labeler: str, address: str) -> str:
    """Return which session is labelled, by whom."""
    if session is None:
        return f"{address}  as {labeler}"
    name = session.name.removeprefix("sessions/")
    shown = on_one_line(session.display_name)
    return f"{shown} ({name})  as {labeler}" if shown else f"{name}  as {labeler}"


def heading(card: Card) -> str:
    """Return what is asked about."""
    text = f"Query {card.query.number}   observation {on_one_line(card.query.observation_id)}"
    if card.taken_back is not None:
        text += f"   (again: you said {said(card.taken_back)})"
    return text


def adjudication(votes: Adjudication) -> str:
    """Return what an adjudicator is told: the votes so far."""
    counts = (votes.inlier_votes, votes.outlier_votes, votes.unsure_votes)
    cast = " (so far {} inlier, {} outlier, {} unsure)".format(*counts) if any(counts) else ""
    return f"Adjudication: your vote decides{cast}."


def confirmation(card: Card) -> str:
    """Return the question whether to drop an observation."""
    name = on_one_line(card.query.observation_id)
    return f"Drop {name} from the session, for all labelers? y: yes, anything else: no"


def waiting(controller: LabelingController, address: str) -> str:
    """Return why there is no question now."""
    if controller.quitting:
        return "Storing your answers ..." if controller.sent else "Leaving ..."
    if controller.status.connected is None:
        return f"Connecting to {address} ..."
    session = controller.status.session
    if session is None:
        return "No session has a question now; waiting for one ..."
    if controller.status.waiting:
        return controller.status.waiting
    if session.state is SessionState.PREPARING:
        share = f" ({session.atlas_progress:.0%})" if session.atlas_progress else ""
        return f"Waiting for the first query: the session is being prepared{share} ..."
    if session.state is SessionState.PAUSED:
        return "The session is paused; waiting until somebody resumes it ..."
    if session.state is SessionState.ESTIMATING:
        return "There are no more questions; the result is being computed ..."
    left = session.config.budget - controller.status.counts.total
    others = session.leased_count
    if left <= 0 and session.awaiting_votes:
        observations = many(session.awaiting_votes, "observation")
        return f"Waiting for the votes of others on {observations} ..."
    if 0 < left <= others:
        return f"Waiting: all {others} open queries are with others ..."
    return "Waiting for the next query: rows are being ranked ..."


def connection(controller: LabelingController) -> str:
    """Return that the connection is lost; empty where it is not."""
    if controller.status.connected is not False:
        return ""
    kept = (
        f"; {many(controller.unsent, 'answer')} kept and sent after reconnecting"
        if controller.unsent
        else ""
    )
    return f"Connection lost, reconnecting ...{kept}"


def notice_line(one: Notice) -> str:
    """Return a notice as a line."""
    if one.query is None:
        return one.text
    name = on_one_line(one.query.observation_id)
    if one.kind in ("lost", "refused"):
        return f"Query {one.query.number} ({name}): {one.text}"
    return f"{one.query.number:>5}  {name}  {one.text}"


def unstored(sent: Sent) -> str:
    """Return a description of a request that may not have been stored."""
    if isinstance(sent, Skip):
        what = f"skip ({sent.mode.value})"
    else:
        what = "undo" if isinstance(sent, Retract) else said(sent.judgement)
    return f"query {sent.query.number} ({on_one_line(sent.query.observation_id)}): {what}"


def labels(controller: LabelingController) -> str:
    """Return how far the session is."""
    counts = controller.status.counts
    session = controller.status.session
    budget = f"/{session.config.budget}" if session else ""
    if session and session.config.blind:
        # The service counts no classes for labelers.
        return f"{counts.total}{budget} labels"
    return f"{counts.total}{budget} labels: {counts.inlier} inlier, {counts.outlier} outlier" + (
        f", {counts.unsure} unsure" if counts.unsure else ""
    )


def time_left(controller: LabelingController) -> str:
    """Return how long the rest of the budget takes this labeler alone; empty while unknown."""
    session = controller.status.session
    if session is None or len(controller.paces_s) < _FEW_PACES:
        return ""
    seconds = max(0, session.config.budget - controller.status.counts.total) * median(
        controller.paces_s
    )
    return f"about {_duration(seconds)} left" if seconds else ""


def headline(result: Result, observations: int) -> list[str]:
    """Return the result in a few lines."""
    quality = result.quality
    score = f"{quality.metric} on the labels {figure(quality.value, 3)}"
    if quality.interval:
        low, high = figure(quality.interval.low, 3), figure(quality.interval.high, 3)
        score += f" [{low}, {high}]"
    lines = [
        f"gamma {gamma_of(result.gamma, result.scaling, 5)}, C {figure(result.C, 5)}, "
        f"nu {figure(result.nu, 4)}",
        score,
    ]
    if result.audit is not None:
        audit = f"{result.audit.metric} by audit {figure(result.audit.value, 3)}"
        if result.audit.interval:
            interval = result.audit.interval
            audit += f" [{figure(interval.low, 3)}, {figure(interval.high, 3)}], for all rows"
        lines.append(audit)
    if result.refined is not None and result.refined.comparison is not None:
        lines.append(compared(result.refined.comparison))
    share = f" ({result.outside_count / observations:.1%})" if observations else ""
    lines.append(f"{result.outside_count} of {observations} rows are outliers{share}")
    if result.outlier_share is not None:
        lines.append(f"share of outliers: {estimated(result.outlier_share)}")
    if result.expected_gain is not None:
        lines.append(f"10 more labels: kappa expected to rise by {expected(result.expected_gain)}")
    return lines


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
