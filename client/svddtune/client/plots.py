"""Pictures as methods of values, for notebooks and scripts; they need the extra ``pictures``.

Figures are pyplot's, so that a notebook shows them and ``pyplot.show()`` opens them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from svddtune.client.extras import needs_extra
from svddtune.client.pictures import (
    draw_alignment,
    draw_comparisons,
    draw_costs,
    draw_detectors,
)
from svddtune.client.pictures.style import style

_WIDTH, _HEIGHT = 5.5, 3.4


def drawn(draw: Callable[[Any], Any], axes: Any) -> Any:
    """Draw on `axes`, or on those of a new figure where that is None; return the axes.

    Raises
    ------
    NotInstalled
        The extra pictures is not installed.
    """
    if axes is not None:
        return draw(axes)
    with _new_figure(_WIDTH, _HEIGHT) as figure:
        return draw(figure.subplots())


@contextmanager
def _new_figure(width: float, height: float) -> Iterator[Any]:
    """Yield a figure of pyplot; the style of the pictures holds inside the block."""
    with needs_extra("pictures", "A picture"):
        from matplotlib import pyplot, rc_context
    # The first figure makes a notebook's pyplot interactive, which the block would take back; later
    # figures would not be shown then.
    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    settings: Any = style()
    with rc_context(settings):
        yield figure


class Plots:
    """The pictures of a result."""

    __slots__ = ()

    def _plotted(self) -> Any:
        """Return the result that is drawn."""
        return self

    def plot(self) -> Any:
        """Draw all pictures of the result on one new figure; return their four axes.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        with _new_figure(2 * _WIDTH, 2 * _HEIGHT) as figure:
            axes = tuple(figure.subplots(2, 2).flat)
            self.plot_alignment(axes[0])
            self.plot_costs(axes[1])
            self.plot_detectors(axes[2])
            self.plot_comparisons(axes[3])
        # (A notebook would show a figure that is returned a second time.)
        return axes

    def plot_alignment(self, axes: Any = None) -> Any:
        """Draw the local alignment over gamma, and the chosen gamma; return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; default a new figure's.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        return drawn(lambda on: draw_alignment(on, self._plotted()), axes)

    def plot_costs(self, axes: Any = None) -> Any:
        """Draw the score on the labels over C, and the chosen C; return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; default a new figure's.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        return drawn(lambda on: draw_costs(on, self._plotted()), axes)

    def plot_detectors(self, axes: Any = None) -> Any:
        """Draw the held-out scores of the SVDD and of the refined detector; return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; default a new figure's.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        return drawn(lambda on: draw_detectors(on, self._plotted()), axes)

    def plot_comparisons(self, axes: Any = None) -> Any:
        """Draw the scores of the detector and of the rules without labels; return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; default a new figure's.

        Raises
        ------
        NotInstalled
            The extra pictures is not installed.
        """
        return drawn(lambda on: draw_comparisons(on, self._plotted()), axes)
