"""Reports the failure of a command: one line on stderr, and JSON on stdout for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping

from svddtune.text import printable, redacted

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_DRIFT = 3
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


def _redacted(metadata: Mapping[str, str]) -> dict[str, str]:
    return {name: redacted(value) for name, value in metadata.items()}


_LINE = re.compile(r"\n(?!  )")
# For these the message suffices; the reason in brackets is left out.
_PLAIN = ("USAGE", "INTERRUPTED", "TERMINATED", "FILE")


def fail(
    message: str,
    reason: str,
    metadata: Mapping[str, str] | None = None,
    *,
    code: int = EXIT_FAILED,
    as_json: bool = False,
    as_lines: bool = False,
) -> int:
    """Report why a command failed.

    Parameters
    ----------
    message : str
        One line for people.
    reason : str
        Stable, UPPER_SNAKE_CASE.
    metadata : mapping, optional
        The values that the message names.
    code : int
        The exit code.
    as_json : bool
        Also print the one document of ``--json``: ``{"error": {"reason", "message", "metadata"}}``.
    as_lines : bool
        Also print a line of ``--json-lines``: the same fields with ``"event": "error"``.

    Returns
    -------
    int
        `code`.
    """
    suffix = "" if reason in _PLAIN else f" [{reason}]"
    message = redacted(message)
    # Later lines are indented, so that they do not look like messages of their own.
    text = _LINE.sub(r"\\n", printable(f"svddtune: {message}{suffix}"))
    print(text, file=sys.stderr)
    error = {"reason": reason, "message": message, "metadata": _redacted(metadata or {})}
    if as_json:
        print(json.dumps({"error": error}, indent=2, allow_nan=False))
    elif as_lines:
        print(json.dumps({"event": "error", **error}, allow_nan=False))
    return code
