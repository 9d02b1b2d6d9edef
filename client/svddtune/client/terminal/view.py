"""The desk as it looks, at a width and a height: a picture from the state, nothing else."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from svddtune.client.terminal import messages as words
from svddtune.client.terminal.card import FULL, STYLES, Room, body
from svddtune.client.terminal.controller import Desk
from svddtune.client.terminal.output import evidence
from svddtune.client.terminal.requests import Card, Done
from svddtune.client.types import Query
from svddtune.text import on_one_line

# An answered question stays this long, so that the screen does not flicker between two.
LINGER_S = 0.7
KEY_ROWS = (
    "[i]nlier   [o]utlier   [u]nsure   [z] undo",
    "[s]kip for now   [x] to others   [d]rop   [f]eatures   [?] help   [q]uit",
)


class View:
    """Draws a desk.

    Parameters
    ----------
    address, labeler : str
        Where the service is and who labels.
    """

    def __init__(self, address: str, labeler: str) -> None:
        self._address = address
        self._labeler = labeler

    def draw(self, desk: Desk, note: str, now: float, console: Console) -> RenderableType:
        """Return the whole screen, with as much of the question as there is room for."""
        room = FULL
        while True:
            picture = self._picture(desk, note, now, room, ascii=console.options.ascii_only)
            lines = len(console.render_lines(picture, pad=False))
            if lines < console.size.height or room.none:
                return picture
            room = room.less()

    def question(self, desk: Desk, card: Card, console: Console) -> RenderableType:
        """Return a question alone, with all there is room for on paper."""
        heading = words.heading(card)
        return self._question(desk, card.query, heading, FULL, console.options.ascii_only)

    def waiting(self, desk: Desk) -> str:
        """Return why there is no question now."""
        return words.waiting(desk, self._address)

    def _picture(
        self, desk: Desk, note: str, now: float, room: Room, *, ascii: bool
    ) -> RenderableType:
        title = Text(words.title(desk.known.session, self._labeler, self._address), style="dim")
        parts: list[RenderableType] = [
            Rule(title, align="left", style="dim", characters="-" if ascii else "─")
        ]
        if desk.helping:
            parts.append(keys_help())
        elif desk.card is not None:
            heading = words.heading(desk.card)
            parts.append(self._question(desk, desk.card.query, heading, room, ascii))
        elif (done := lingering(desk, now)) is not None:
            heading = words.heading(Card(done.query, leased=True)) + f"   {done.verdict.value}"
            style = STYLES[done.verdict]
            parts.append(self._question(desk, done.query, heading, room, ascii, style))
        else:
            parts.append(Text(self.waiting(desk), style="bold"))
        parts += [Text(), _progress(desk, ascii=ascii)]
        live = desk.known.session.live if desk.known.session else None
        if live is not None:
            parts.append(_one_line(Text(evidence(live))))
            parts.append(Text(on_one_line(live.advice), style="dim"))
        parts.append(_note(desk, note))
        parts += [_one_line(Text(row, style="dim")) for row in KEY_ROWS]
        return Group(*parts)

    def _question(
        self,
        desk: Desk,
        query: Query,
        heading: str,
        room: Room,
        ascii: bool,
        style: str = "bold",
    ) -> RenderableType:
        names = desk.known.feature_names(query.session)
        return Group(
            _one_line(Text(heading, style=style)),
            body(query, names, room, ascii=ascii),
        )


def keys_help() -> Table:
    """Return what the keys do."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(no_wrap=True)
    grid.add_column()
    for row in words.KEYS_HELP:
        grid.add_row(*map(Text, row))
    grid.add_row("", "", Text("Any key goes back to the question.", style="dim"))
    return grid


def lingering(desk: Desk, now: float) -> Done | None:
    """Return the answer that is still to be seen: for a moment, and while it is not stored."""
    if not desk.history or desk.quitting:
        return None
    done = desk.history[-1]
    unstored = any(sent.query is done.query for sent in desk.sent.values())
    return done if unstored or now - done.at < LINGER_S else None


def _progress(desk: Desk, *, ascii: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=16)
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, style="dim")
    session = desk.known.session
    total = session.config.budget if session else 1
    done = min(desk.known.counts.total, total)
    line: RenderableType = ProgressBar(total=total, completed=done, width=16)
    if ascii:
        line = Text("#" * round(16 * done / max(1, total)) + "." * round(16 * (1 - done / total)))
    grid.add_row(line, Text(words.labels(desk)), Text(words.time_left(desk)))
    return grid


def _note(desk: Desk, note: str) -> Text:
    lost = words.connection(desk)
    if lost:
        return Text(lost, style="bold yellow")
    if desk.confirming and desk.card is not None:
        return Text(words.confirmation(desk.card), style="bold yellow")
    return Text(note, style="yellow")


def _one_line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
