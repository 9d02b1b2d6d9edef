"""HTML for notebooks: tables and small pictures, with every text escaped.

No colour of a background or of text is set, so that both light and dark notebooks show them well.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from svddtune.text import visible

INLIER, OUTLIER = "#0072B2", "#D55E00"
"""Colours of the two classes, which the colour-blind can tell apart."""

_LONGEST = 200
_WIDTH, _HEIGHT = 160, 36
_CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"
_NUMBER = "text-align:right;padding:2px 12px 2px 0;vertical-align:top"


class Markup(str):
    """HTML that is shown as it is; all other texts are escaped."""

    __slots__ = ()


class Numeral(str):
    """A number as text, which stands at the right of its column."""

    __slots__ = ()


def escaped(text: object) -> Markup:
    """Return a text as HTML that shows exactly this text, steering characters written out."""
    if isinstance(text, Markup):
        return text
    shown = visible(str(text))
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
    return Markup(html.escape(shown))


def facts(title: str, rows: Iterable[tuple[str, object]]) -> Markup:
    """Return a table of names and values under a title; a value "" leaves the row out."""
    body = "".join(
        f'<tr><th scope="row" style="{_CELL}">{escaped(name)}</th>'
        f'<td style="{_CELL}">{escaped(value)}</td></tr>'
        for name, value in rows
        if value != ""
    )
    return Markup(f"<table>{_caption(title)}<tbody>{body}</tbody></table>")


def listed(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table with headings; empty without rows. Numbers stand at the right."""
    cells = list(rows)
    if not cells:
        return Markup()
    lines = [
        "".join(f'<td style="{_style(cell)}">{escaped(cell)}</td>' for cell in row) for row in cells
    ]
    head = "".join(
        f'<th scope="col" style="{_style(below)}">{escaped(one)}</th>'
        for one, below in zip(headings, cells[0], strict=True)
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f"<table>{_caption(title)}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return Markup(table)


def sentences(texts: Iterable[str]) -> Markup:
    """Return a list of sentences; empty without any."""
    items = "".join(f"<li>{escaped(text)}</li>" for text in texts)
    return Markup(f'<ul style="margin:4px 0">{items}</ul>' if items else "")


def block(*parts: str) -> Markup:
    """Return parts below each other."""
    return Markup(f"<div>{''.join(parts)}</div>")


def stack_bar(parts: Sequence[tuple[float, str]], total: float, text: str) -> Markup:
    """Return a bar of `total`, filled with parts (size, colour), which `text` describes."""
    x, drawn = 0.0, ""
    for size, colour in parts:
        width = _WIDTH * min(max(size, 0.0), total) / total if total > 0 else 0.0
        drawn += f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="10" fill="{colour}"/>'
        x += width
    frame = f'<rect x="0.5" y="0.5" width="{_WIDTH - 1}" height="9" {_THIN}/>'
    return _svg(drawn + frame, 10, text)


def interval_bar(value: float, low: float, high: float, text: str) -> Markup:
    """Return a value in [-1, 1] with its interval, on a line from -1 to 1."""

    def at(one: float) -> float:
        return _WIDTH * (min(max(one, -1.0), 1.0) + 1) / 2

    drawn = f'<line x1="0" y1="6" x2="{_WIDTH}" y2="6" {_THIN}/>'
    drawn += f'<line x1="{at(0):.1f}" y1="2" x2="{at(0):.1f}" y2="10" {_THIN}/>'
    drawn += (
        f'<line x1="{at(low):.1f}" y1="6" x2="{at(high):.1f}" y2="6" stroke="{INLIER}" '
        'stroke-width="4"/>'
    )
    drawn += f'<circle cx="{at(value):.1f}" cy="6" r="4" fill="{OUTLIER}"/>'
    return _svg(drawn, 12, text)


def curve(x: Sequence[float], y: Sequence[float], mark: float, text: str) -> Markup:
    """Return a curve over logarithmic x with a mark at one x; empty with fewer than two points."""
    points = sorted(
        (math.log(a), b) for a, b in zip(x, y, strict=True) if a > 0 and math.isfinite(b)
    )
    if len(points) < 2 or points[0][0] == points[-1][0]:
        return Markup()
    left, right = points[0][0], points[-1][0]
    bottom, top = min(b for _, b in points), max(b for _, b in points)
    high = (top - bottom) or 1.0

    def at(a: float) -> float:
        return 3 + (_WIDTH - 6) * (a - left) / (right - left)

    path = " ".join(f"{at(a):.1f},{3 + (_HEIGHT - 6) * (top - b) / high:.1f}" for a, b in points)
    drawn = f'<polyline points="{path}" fill="none" stroke="{INLIER}" stroke-width="1.5"/>'
    if mark > 0 and left <= math.log(mark) <= right:
        here = at(math.log(mark))
        drawn += (
            f'<line x1="{here:.1f}" y1="0" x2="{here:.1f}" y2="{_HEIGHT}" stroke="{OUTLIER}" '
            'stroke-width="1.5" stroke-dasharray="3 2"/>'
        )
    return _svg(drawn, _HEIGHT, text)


_THIN = 'fill="none" stroke="currentColor" stroke-opacity="0.5"'


def _svg(drawn: str, height: int, text: str) -> Markup:
    label = escaped(text)
    return Markup(
        f'<svg role="img" aria-label="{label}" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" style="vertical-align:middle"><title>{label}</title>'
        f"{drawn}</svg>"
    )


def _caption(title: str) -> str:
    if not title:
        return ""
    style = "text-align:left;font-weight:bold;caption-side:top"
    return f'<caption style="{style}">{escaped(title)}</caption>'


def _style(cell: object) -> str:
    return _NUMBER if isinstance(cell, int | float | Numeral) else _CELL
