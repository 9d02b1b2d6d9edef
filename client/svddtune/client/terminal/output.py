"""Where output goes: results to stdout, all else to stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from svddtune.client.phrases import (
    compared,
    estimated,
    evidence,
    expected,
    figure,
    gamma_of,
)
from svddtune.text import printable, redacted

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "compared",
    "estimated",
    "evidence",
    "expected",
    "figure",
    "gamma_of",
    "print_json",
    "say",
    "stderr",
    "stdout",
    "tell",
]


def print_json(document: Any) -> None:
    """Print the one document that --json promises."""
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def stderr() -> Console:
    """Return a console on stderr: no escape codes unless it is a terminal.

    Text is shown as it is: no markup, no emoji codes, and steering characters written out.
    """
    from svddtune.client.terminal.console import SafeConsole

    return SafeConsole(stderr=True)


def stdout() -> Console:
    """Return a console on stdout; see `stderr`."""
    from svddtune.client.terminal.console import SafeConsole

    return SafeConsole()


def say(message: str) -> None:
    """Print a line on stderr, with steering characters written out."""
    print(printable(redacted(message)), file=sys.stderr, flush=True)


def tell(message: str) -> None:
    """Print a line of the result on stdout, with steering characters written out."""
    print(printable(message), flush=True)
