"""What a labeler may type, as keys and as words."""

from __future__ import annotations

from enum import Enum

from svddtune.client.types import Judgement, SkipMode, Verdict

PROBABLY = 0.75
"""Confidence of an answer that is given as probable."""


class Action(Enum):
    """A command that is neither a verdict nor a way to skip."""

    UNDO = "undo"
    YES = "yes"
    FEATURES = "features"
    HELP = "help"
    QUIT = "quit"


TerminalCommand = Verdict | Judgement | SkipMode | Action

_PROBABLY_INLIER = Judgement(Verdict.INLIER, PROBABLY)
_PROBABLY_OUTLIER = Judgement(Verdict.OUTLIER, PROBABLY)

# By one letter, with or without Enter. "k" and "l" lie below "i" and "o" on most keyboards.
KEYS: dict[str, TerminalCommand] = {
    "i": Verdict.INLIER,
    "o": Verdict.OUTLIER,
    "k": _PROBABLY_INLIER,
    "l": _PROBABLY_OUTLIER,
    "u": Verdict.UNSURE,
    "z": Action.UNDO,
    "s": SkipMode.LATER,
    "x": SkipMode.OTHERS,
    "d": SkipMode.DROP,
    "y": Action.YES,
    "f": Action.FEATURES,
    "?": Action.HELP,
    "q": Action.QUIT,
    "\x04": Action.QUIT,  # Ctrl-D
}
_WORDS: dict[str, TerminalCommand] = {
    **KEYS,
    "inlier": Verdict.INLIER,
    "+1": Verdict.INLIER,
    "1": Verdict.INLIER,
    "outlier": Verdict.OUTLIER,
    "-1": Verdict.OUTLIER,
    "probably inlier": _PROBABLY_INLIER,
    "probably outlier": _PROBABLY_OUTLIER,
    "unsure": Verdict.UNSURE,
    "undo": Action.UNDO,
    "skip": SkipMode.LATER,
    "later": SkipMode.LATER,
    "skip later": SkipMode.LATER,
    "others": SkipMode.OTHERS,
    "skip others": SkipMode.OTHERS,
    "drop": SkipMode.DROP,
    "skip drop": SkipMode.DROP,
    "yes": Action.YES,
    "features": Action.FEATURES,
    "help": Action.HELP,
    "quit": Action.QUIT,
}
WORDS_HELP = (
    "inlier, outlier, probably inlier, probably outlier, unsure, undo, skip, others, drop, "
    "features, help or quit"
)


def parse_line(line: str) -> tuple[TerminalCommand | None, int | None]:
    """Return the command of a line, None for an unknown one, and the number of the query it names.

    ``inlier 12`` is an answer to query 12 and to no other; ``1`` alone is an inlier.
    """
    parts = line.lower().split()
    number = None
    if len(parts) > 1 and parts[-1].isdecimal():
        number = int(parts.pop())
    return _WORDS.get(" ".join(parts)), number
