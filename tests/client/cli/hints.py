"""The command lines that commands suggest."""

import re
import shlex
from collections.abc import Iterable, Iterator

# A suggestion goes on to the end of its line, or of its sentence.
_HINT = re.compile(
    r"(?:with|labels|it): (svddtune .*?)(?= \[[A-Z_]+\]|\. [A-Z'\"]|\.?$)", re.MULTILINE
)


# A list of suggestions has one a line, with a comment on what it does.
_LISTED = re.compile(r"^  (svddtune .*?)(?:\s+# .*)?$", re.MULTILINE)


def hints(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each command line that `text` suggests."""
    for line in [*_HINT.findall(text), *_LISTED.findall(text)]:
        yield shlex.split(line)[1:]


def words(arguments: Iterable[str]) -> str:
    """Return the names of the command, for example "session create"."""
    given = list(arguments)
    return " ".join(given[:2] if given[0] in ("session", "dataset") else given[:1])
