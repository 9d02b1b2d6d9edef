"""What an interrupted run leaves behind, attached to the exception that ended it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from svddtune.client.shown import Shown
from svddtune.client.types import Verdict

_ATTRIBUTE = "svddtune_interruption"


@dataclass(frozen=True, slots=True, repr=False)
class Interruption(Shown):
    """A run of `tune` that ended before its result, with the answers so far.

    Attributes
    ----------
    labels : mapping of str to Verdict
        The oracle's answers in force, by observation id; initial labels are not among them.
    resume : str
        The argument of ``tune(X, oracle, resume=...)``: the name or folder of the run, or the name
        of the session at a server. Empty where nothing is kept.
    folder : Path or None
        Folder of the run; None for a run at a server.
    server : str
        HOST:PORT of the service that has the session; empty for a run with a service of its own.
    tags : tuple of str
        Tags that the session requires of its labelers.
    """

    labels: Mapping[str, Verdict] = field(default_factory=dict)
    resume: str = ""
    folder: Path | None = None
    server: str = ""
    tags: tuple[str, ...] = ()

    @property
    def answers(self) -> str:
        """The number of answers, in words with a verb: "12 answers are"."""
        return "1 answer is" if len(self.labels) == 1 else f"{len(self.labels)} answers are"

    def note(self) -> str:
        """Return a sentence that says where the answers are and how to go on."""
        if not self.resume:
            return ""
        if self.server:
            place = f"in {self.resume} at {self.server}"
            how = f"tune(X, oracle, server={self.server!r}, resume={self.resume!r})"
        else:
            place = f"in {self.folder}"
            how = f"tune(X, oracle, resume={self.resume!r})"
        return f"svddtune: {self.answers} kept {place}; continue with: {how}"


class Stopped(KeyboardInterrupt):
    """A signal asked to stop; `signal` is its number."""

    def __init__(self, signal: int) -> None:
        super().__init__(f"signal {signal}")
        self.signal = signal


def interruption(error: BaseException) -> Interruption | None:
    """Return what `tune` left behind when `error` ended it; None for other exceptions.

    ::

        try:
            tuned = tune(X, oracle)
        except KeyboardInterrupt as error:
            left = interruption(error)
            if left and left.resume:
                tuned = tune(X, oracle, resume=left.resume)

    Parameters
    ----------
    error : BaseException
        What `tune` raised.
    """
    found = getattr(error, _ATTRIBUTE, None)
    return found if isinstance(found, Interruption) else None


def attach(error: BaseException, left: Interruption) -> None:
    """Attach `left` to `error`, with a note that ends its traceback."""
    with contextlib.suppress(AttributeError):  # an exception class with slots
        setattr(error, _ATTRIBUTE, left)
    if note := left.note():
        error.add_note(note)
