"""What an oracle may say."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from svddtune.client.types import Query, SkipMode, Verdict


class Command(Enum):
    """What an oracle may want instead of answering."""

    STOP = "stop"
    """Ask no more; the result comes from the labels there are."""
    UNDO = "undo"
    """Withdraw the last answer and show its observation again."""


Answer = Verdict | SkipMode | Command
Oracle = Callable[[Query], object]


def reply(value: object) -> Answer:
    """Return what an oracle said as an `Answer`; InvalidInput where it is none."""
    if isinstance(value, SkipMode | Command):
        return value
    return Verdict.of(value)
