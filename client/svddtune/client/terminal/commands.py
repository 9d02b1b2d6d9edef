"""What a labeler may say, as keys and as words."""

from __future__ import annotations

from enum import Enum

from svddtune.client.types import SkipMode, Verdict


class Key(Enum):
    """A wish that is neither a verdict nor a way to skip."""

    UNDO = "undo"
    YES = "yes"
    FEATURES = "features"
    HELP = "help"
    QUIT = "quit"


Command = Verdict | SkipMode | Key

# By one letter, with or without Enter.
KEYS: dict[str, Command] = {
    "i": Verdict.INLIER,
    "o": Verdict.OUTLIER,
    "u": Verdict.UNSURE,
    "z": Key.UNDO,
    "s": SkipMode.LATER,
    "x": SkipMode.OTHERS,
    "d": SkipMode.DROP,
    "y": Key.YES,
    "f": Key.FEATURES,
    "?": Key.HELP,
    "q": Key.QUIT,
    "\x04": Key.QUIT,  # Ctrl-D
}
_WORDS: dict[str, Command] = {
    **KEYS,
    "inlier": Verdict.INLIER,
    "+1": Verdict.INLIER,
    "1": Verdict.INLIER,
    "outlier": Verdict.OUTLIER,
    "-1": Verdict.OUTLIER,
    "unsure": Verdict.UNSURE,
    "undo": Key.UNDO,
    "skip": SkipMode.LATER,
    "later": SkipMode.LATER,
    "skip later": SkipMode.LATER,
    "others": SkipMode.OTHERS,
    "skip others": SkipMode.OTHERS,
    "drop": SkipMode.DROP,
    "skip drop": SkipMode.DROP,
    "yes": Key.YES,
    "features": Key.FEATURES,
    "help": Key.HELP,
    "quit": Key.QUIT,
}
WORDS_HELP = "inlier, outlier, unsure, undo, skip, others, drop, features, help or quit"


def words(line: str) -> tuple[Command | None, int | None]:
    """Return what a line says, None for nothing known, and the number of the query it names.

    ``inlier 12`` is an answer to query 12 and to no other; ``1`` alone is an inlier.
    """
    parts = line.lower().split()
    number = None
    if len(parts) > 1 and parts[-1].isdecimal():
        number = int(parts.pop())
    return _WORDS.get(" ".join(parts)), number
