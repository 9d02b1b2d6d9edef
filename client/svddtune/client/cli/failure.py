"""How a command that fails says so: one line on stderr, with --json a document on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

# Their messages say all; a reason in brackets adds nothing for people.
_PLAIN = ("USAGE", "INTERRUPTED", "FILE")


def fail(
    message: str,
    reason: str,
    metadata: Mapping[str, str] | None = None,
    *,
    code: int = EXIT_FAILED,
    as_json: bool = False,
) -> int:
    """Say why a command failed.

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

    Returns
    -------
    int
        `code`.
    """
    suffix = "" if reason in _PLAIN else f" [{reason}]"
    print(f"svddtune: {message}{suffix}", file=sys.stderr)
    if as_json:
        error = {"reason": reason, "message": message, "metadata": dict(metadata or {})}
        json.dump({"error": error}, sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
    return code
