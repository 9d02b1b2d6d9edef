"""The picture of the state, for a width and a height."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from svddtune.client.terminal import messages
from svddtune.client.terminal.card import FULL, STYLES, Detail, body
from svddtune.client.terminal.controller import LabelingController
from svddtune.client.terminal.output import compared, evidence
from svddtune.client.terminal.requests import Answered, Card, said
from svddtune.client.types import Query
from svddtune.text import on_one_line

# Seconds for which an answered question stays, so that the screen does not flicker between two.
LINGER_S = 0.7
KEY_ROWS = (
    "[i]nlier   [o]utlier   probably: [k] inlier  [l] outlier   [u]nsure   [z] undo",
    "[s]kip for now   [x] to others   [d]rop   [f]eatures   [?] help   [q]uit",
)


class View:
    """Draws a controller's state.

    Parameters
    ----------
    address, labeler : str
        Where the service is and who labels.
    """

    def __init__(self, address: str, labeler: str) -> None:
        self._address = address
        self._labeler = labeler

    def draw(
        self, controller: LabelingController, note: str, now: float, console: Console
    ) -> RenderableType:
        """Return the whole screen, with as much of the question as there is room for."""
        detail = FULL
        while True:
            picture = self._picture(controller, note, now, detail, ascii=console.options.ascii_only)
            lines = len(console.render_lines(picture, pad=False))
            if lines < console.size.height or detail.empty:
                return picture
            detail = detail.reduced()

    def question(
        self, controller: LabelingController, card: Card, console: Console
    ) -> RenderableType:
        """Return a question alone, in full detail."""
        heading = messages.heading(card)
        return self._question(controller, card.query, heading, FULL, console.options.ascii_only)

    def waiting(self, controller: LabelingController) -> str:
        """Return why there is no question now."""
        return messages.waiting(controller, self._address)

    def _picture(
        self, controller: LabelingController, note: str, now: float, detail: Detail, *, ascii: bool
    ) -> RenderableType:
        title = Text(
            messages.title(controller.status.session, self._labeler, self._address), style="dim"
        )
        parts: list[RenderableType] = [
            Rule(title, align="left", style="dim", characters="-" if ascii else "─")
        ]
        if controller.helping:
            parts.append(keys_help())
        elif controller.card is not None:
            heading = messages.heading(controller.card)
            parts.append(self._question(controller, controller.card.query, heading, detail, ascii))
        elif (done := lingering(controller, now)) is not None:
            heading = messages.heading(Card(done.query, leased=True)) + f"   {said(done.judgement)}"
            style = STYLES[done.judgement.verdict]
            parts.append(self._question(controller, done.query, heading, detail, ascii, style))
        else:
            parts.append(Text(self.waiting(controller), style="bold"))
        parts += [Text(), _progress(controller, ascii=ascii)]
        live = controller.status.session.live if controller.status.session else None
        if live is not None:
            parts.append(_one_line(Text(evidence(live))))
            parts.append(Text(on_one_line(live.advice), style="dim"))
        if controller.status.session and (detectors := controller.status.session.detectors):
            parts.append(_one_line(Text(compared(detectors), style="dim")))
        parts.append(_note(controller, note))
        parts += [_one_line(Text(row, style="dim")) for row in KEY_ROWS]
        return Group(*parts)

    def _question(
        self,
        controller: LabelingController,
        query: Query,
        heading: str,
        detail: Detail,
        ascii: bool,
        style: str = "bold",
    ) -> RenderableType:
        names = controller.status.feature_names(query.session)
        return Group(
            _one_line(Text(heading, style=style)),
            body(query, names, detail, ascii=ascii),
        )


def keys_help() -> Table:
    """Return what the keys do."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(no_wrap=True)
    grid.add_column()
    for row in messages.KEYS_HELP:
        grid.add_row(*map(Text, row))
    grid.add_row("", "", Text("Any key goes back to the question.", style="dim"))
    return grid


def lingering(controller: LabelingController, now: float) -> Answered | None:
    """Return the last answer while it is shown: for a moment, and while it is not stored."""
    if not controller.history or controller.quitting:
        return None
    done = controller.history[-1]
    unstored = any(sent.query is done.query for sent in controller.sent.values())
    return done if unstored or now - done.at < LINGER_S else None


def _progress(controller: LabelingController, *, ascii: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=16)
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, style="dim")
    session = controller.status.session
    total = session.config.budget if session else 1
    done = min(controller.status.counts.total, total)
    line: RenderableType = ProgressBar(total=total, completed=done, width=16)
    if ascii:
        line = Text("#" * round(16 * done / max(1, total)) + "." * round(16 * (1 - done / total)))
    grid.add_row(line, Text(messages.labels(controller)), Text(messages.time_left(controller)))
    return grid


def _note(controller: LabelingController, note: str) -> Text:
    lost = messages.connection(controller)
    if lost:
        return Text(lost, style="bold yellow")
    if controller.confirming and controller.card is not None:
        return Text(messages.confirmation(controller.card), style="bold yellow")
    return Text(note, style="yellow")


def _one_line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
