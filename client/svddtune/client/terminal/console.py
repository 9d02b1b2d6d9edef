"""The console of the command line."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from svddtune.text import printable


class SafeConsole(Console):
    """Shows text as it is written: nothing in it is markup, and nothing steers the terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text to be shown, cells of tables included."""
        return super().render_str(printable(text), **options)
