"""Style and file format of the pictures."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

COLORS = {
    "default": "#c8442f",
    "default_cold": "#e8a33d",
    "disagreement": "#2a6f97",
    "random": "#6aa84f",
    "lama": "#2b2f33",
    "lama_sample": "#9aa1a9",
}
"""Of sessions, by method."""
INK, BLUE, RED, GREEN, GREY = "#2b2f33", "#2a6f97", "#c8442f", "#6aa84f", "#8a9097"
# matplotlib types the keys as an enumeration of all its settings.
STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
}

_DPI = 110
_PALETTE = 128


def blank(width: float, height: float) -> Figure:
    """Make an empty figure, in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_all(folder: Path, figures: Iterable[tuple[str, Figure | None]]) -> dict[str, Path]:
    """Write figures, drawn in turn under `STYLE`, as PNG; name -> file, None left out."""
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Path] = {}
    with rc_context(STYLE):
        for name, figure in figures:
            if figure is not None:
                made[name] = folder / f"{name}.png"
                _save(figure, made[name])
    return made


def _save(figure: Figure, path: Path) -> None:
    """Write a PNG with a palette: a third of the size, and no difference to the eye."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=_DPI, format="png")
    image = Image.open(drawn).convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE)
    image.save(path, optimize=True)
