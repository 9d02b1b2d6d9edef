"""Figures to draw on, and pictures as PNG and as SVG for a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

from svddtune.client.extras import needs_extra
from svddtune.client.pictures.style import INK, style

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# Stands for the colour of the text around the picture, which differs between light and dark.
_AROUND = "#010203"
_DOTS = 130


@contextmanager
def new_figure(
    width: float = 5.5, height: float = 3.4, *, ink: str = INK, extra: str = "pictures"
) -> Iterator[Any]:
    """Yield an empty figure in the style of the pictures; the style holds inside the block.

    Parameters
    ----------
    width, height : float
        In inches.
    ink : str
        Colour of text and axes.
    extra : str
        Extra to name where matplotlib is missing.

    Raises
    ------
    NotInstalled
        Without matplotlib.
    """
    with needs_extra(extra, "A picture"):
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    settings: Any = style(ink)
    with rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained", dpi=_DOTS)
        FigureCanvasAgg(figure)
        yield figure


def png(draw: Callable[[Any], Any], *, width: float = 5.5, height: float = 3.4) -> bytes:
    """Return what `draw` draws on the axes it is given, as a PNG file.

    Raises
    ------
    NotInstalled
        Without matplotlib.
    """
    with new_figure(width, height) as figure:
        draw(figure.subplots())
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": "svddtune"})
    return out.getvalue()


def svg(draw: Callable[[Any], Any], name: str, *, width: float = 5.5, height: float = 3.4) -> str:
    """Return what `draw` draws on the axes it is given, as an element ``svg`` for an HTML page.

    Its text and axes have the colour of the text around it. The element is hidden from screen
    readers: the page describes the picture in words.

    Parameters
    ----------
    draw : callable
        Takes the axes.
    name : str
        Unique in the page; ids inside begin with it.
    width, height : float
        In inches.

    Raises
    ------
    NotInstalled
        Without matplotlib.
    """
    with new_figure(width, height, ink=_AROUND) as figure:
        draw(figure.subplots())
        out = io.StringIO()
        # (Without this metadata the file would differ each time by its date.)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _embeddable(out.getvalue(), name)


def _embeddable(text: str, name: str) -> str:
    """Return an SVG file as an element: its ids its own, without what only a file needs."""
    root = ElementTree.fromstring(text)
    for part in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(part)
    # (Only drawings in <defs> are referred to.)
    kept = {part.get("id") for defs in root.iter(f"{{{_SVG}}}defs") for part in defs.iter()}
    for part in root.iter():
        part.tag = part.tag.rpartition("}")[2]
        if (id_ := part.attrib.pop("id", None)) is not None and id_ in kept:
            part.set("id", f"{name}-{id_}")
        if (target := part.attrib.pop(f"{{{_XLINK}}}href", None)) is not None:
            part.set("href", target.replace("#", f"#{name}-", 1))
        for key, value in part.attrib.items():
            part.set(key, value.replace("url(#", f"url(#{name}-").replace(_AROUND, "currentColor"))
        if part.tag == "style" and part.text:
            part.text = part.text.replace(_AROUND, "currentColor")
    root.attrib.pop("version", None)
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    root.set("xmlns", _SVG)  # a page needs it not, a file does
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return ElementTree.tostring(root, encoding="unicode")
