"""Gives values a short repr, and a table in notebooks."""

from __future__ import annotations

import importlib
from typing import Any


class Shown:
    """A value with a repr of one line, and with a table in notebooks.

    The package `summary` knows how each kind of value looks. It imports the values, so they load it
    by name.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(_summary().line_of(self))

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; None where the repr says it all."""
        html: str | None = _summary().html_of(self)
        return html


def _summary() -> Any:
    return importlib.import_module("svddtune.client.summary")
