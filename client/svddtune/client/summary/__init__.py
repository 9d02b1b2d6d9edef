"""How values look: in one line, and as HTML in notebooks."""

from svddtune.client.summary.lines import line_of
from svddtune.client.summary.pages import html_of

__all__ = ["html_of", "line_of"]
