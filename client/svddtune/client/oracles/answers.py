"""The answers of oracles."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from svddtune.client.types import Judgement, Query, Session, SkipMode, Verdict

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient


class Command(Enum):
    """A command that an oracle returns instead of an answer."""

    STOP = "stop"
    """Ask no more; the result comes from the labels there are."""
    UNDO = "undo"
    """Withdraw the last answer and show its observation again."""


Answer = Verdict | Judgement | SkipMode | Command
Oracle = Callable[[Query], object]


@runtime_checkable
class SessionOracle(Protocol):
    """An oracle that holds the dialogue with a session itself."""

    @property
    def labeler(self) -> str:
        """Who labels where neither the caller nor the service names the labeler."""
        ...

    def label_session(
        self, client: TuningClient, session: Session, *, labeler: str, resume_token: str
    ) -> Command | None:
        """Label until the session asks no more; Command.STOP finishes with the labels so far."""
        ...


def reply(value: object) -> Answer:
    """Return the value of an oracle as an `Answer`; InvalidInput for anything else.

    ("outlier", 0.8) is a `Judgement`, a verdict with the labeler's confidence.
    """
    if isinstance(value, SkipMode | Command):
        return value
    judgement = Judgement.of(value)
    return judgement.verdict if judgement.confidence is None else judgement


def verdict_of(answer: Answer) -> Verdict | None:
    """Return the verdict of an answer that has one."""
    if isinstance(answer, Judgement):
        return answer.verdict
    return answer if isinstance(answer, Verdict) else None
