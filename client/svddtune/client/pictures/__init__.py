"""Pictures of a result, drawn on matplotlib's axes.

Each function takes axes and what it draws, and returns the axes. The functions import matplotlib
only through the axes that they are given; `new_figure` needs the extra ``pictures``.
"""

from svddtune.client.pictures.comparisons import draw_comparisons
from svddtune.client.pictures.curves import draw_alignment, draw_costs
from svddtune.client.pictures.detectors import draw_detectors
from svddtune.client.pictures.figures import new_figure, png, svg
from svddtune.client.pictures.history import draw_history, draw_quality
from svddtune.client.pictures.rows import draw_rows

__all__ = [
    "draw_alignment",
    "draw_comparisons",
    "draw_costs",
    "draw_detectors",
    "draw_history",
    "draw_quality",
    "draw_rows",
    "new_figure",
    "png",
    "svg",
]
