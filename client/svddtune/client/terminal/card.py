"""A question as it is shown: what is known of the observation, and why it is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from svddtune.client.terminal.features import (
    columns_first,
    feature_name,
    name_shown,
    shown_values,
    signed,
)
from svddtune.client.terminal.messages import adjudication
from svddtune.client.terminal.output import figure
from svddtune.client.types import Query, Verdict
from svddtune.text import on_one_line

STYLES = {Verdict.INLIER: "green", Verdict.OUTLIER: "red", Verdict.UNSURE: "yellow"}
_BAR = 7
_LONGEST_KEY = 24


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a question is shown: display fields, features, lines of reasons."""

    fields: int
    features: int
    reasons: int

    def reduced(self) -> Detail:
        """Return the next smaller detail: fields go first, unusual features last."""
        if self.fields > 2:
            return Detail(self.fields - 1, self.features, self.reasons)
        if self.reasons > 1:
            return Detail(self.fields, self.features, self.reasons - 1)
        if self.features > 2:
            return Detail(self.fields, self.features - 1, self.reasons)
        return Detail(max(0, self.fields - 1), max(0, self.features - 1), self.reasons)

    @property
    def empty(self) -> bool:
        """True where there is nothing left to leave out."""
        return not self.fields and not self.features


FULL = Detail(12, 8, 3)


def body(query: Query, names: Sequence[str], detail: Detail, *, ascii: bool) -> Group:
    """Return fields, features, neighbours and the reason of one question."""
    parts: list[RenderableType] = []
    if query.display and detail.fields:
        parts += [_fields(query, detail.fields), Text()]
    if detail.features and len(query.features):
        parts += [_features(query, names, detail.features, ascii=ascii)]
    parts.append(Text())
    if query.nearby:
        parts.append(_nearby(query))
    if query.adjudication:
        parts.append(Text(adjudication(query.adjudication), style="bold"))
    if query.why:
        parts.append(_lines(Text(f"Why: {on_one_line(query.why)}", style="italic"), detail.reasons))
    return Group(*parts)


def everything(query: Query, names: Sequence[str]) -> RenderableType:
    """Return all fields and features of one question, however many."""
    name = on_one_line(query.observation_id)
    what = "all features" if len(query.features) else "all fields; the session shows no features"
    title = Text(f"Query {query.number}, observation {name}: {what}", style="bold")
    if not len(query.features):
        return Group(title, _fields(query, len(query.display)))
    table = Table(box=None)
    table.add_column("feature", overflow="fold")
    for heading in ("value", "typical", "deviation"):
        table.add_column(heading, justify="right")
    unusual = {item.column: item for item in query.unusual}
    for column, value in shown_values(query).items():
        item = unusual.get(column)
        cells = [feature_name(query, names, column), figure(value, 6)]
        cells += [figure(item.typical, 6), signed(item.deviation)] if item else ["", ""]
        table.add_row(*map(Text, cells))
    return Group(title, _fields(query, len(query.display)), table)


def bar(deviation: float, *, ascii: bool) -> str:
    """Return a bar to the left or right of a middle: a block for each robust deviation."""
    size = 0 if math.isnan(deviation) else round(min(abs(deviation), _BAR))
    block, middle = ("#", "|") if ascii else ("█", "│")
    left, right = (size, 0) if deviation < 0 else (0, size)
    return " " * (_BAR - left) + block * left + middle + block * right + " " * (_BAR - right)


def _fields(query: Query, most: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    width = min(_LONGEST_KEY, max((len(on_one_line(key)) for key in query.display), default=0))
    grid.add_column(style="cyan", no_wrap=True, width=width, overflow="ellipsis")
    grid.add_column()
    one_line = most < FULL.fields
    items = list(query.display.items())
    shown = items if len(items) <= most else items[: max(0, most - 1)]
    for key, value in shown:
        text = Text(on_one_line(value), no_wrap=one_line, overflow="ellipsis" if one_line else None)
        grid.add_row(Text(on_one_line(key)), text)
    if len(shown) < len(items):
        grid.add_row(Text("..."), Text(f"{len(items) - len(shown)} more: press f", style="dim"))
    return grid


def _features(query: Query, names: Sequence[str], most: int, *, ascii: bool) -> Table:
    values = shown_values(query)
    unusual = {item.column: item for item in query.unusual}
    columns = columns_first(query)
    # All columns take part in it, so that it looks the same from one question to the next.
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    left_out = len(values) - min(len(columns), most)
    heading = "feature" if not left_out else f"feature ({left_out} more: press f)"
    table.add_column(heading, width=26, no_wrap=True, overflow="ellipsis")
    table.add_column("value", justify="right", width=11)
    table.add_column("deviation", width=2 * _BAR + 1, no_wrap=True)
    table.add_column("", justify="right", width=6)
    typical = "typical inlier" if query.reference_inliers else "typical row"
    table.add_column(typical, justify="right", width=14, no_wrap=True)
    for column in columns[:most]:
        item = unusual.get(column)
        name = Text(name_shown(query, names, column))
        value = Text(figure(values[column], 5))
        if item is None:
            table.add_row(name, value)
            continue
        style = "red" if item.deviation > 0 else "blue"
        table.add_row(
            name,
            value,
            Text(bar(item.deviation, ascii=ascii), style=style),
            Text(signed(item.deviation)),
            Text(figure(item.typical, 5)),
        )
    return table


def _nearby(query: Query) -> Text:
    text = Text("Nearest labels (distance): ")
    for position, near in enumerate(query.nearby):
        if position:
            text.append(", ")
        if near.verdict is not None:
            text.append(near.verdict.value, style=STYLES[near.verdict])
        text.append(f" {on_one_line(near.observation_id)} ({figure(math.sqrt(near.distance2), 2)})")
    return text


def _lines(text: Text, most: int) -> RenderableType:
    if most > 1:
        return text
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
