"""The name of the labeler of a command."""

from __future__ import annotations

import getpass
import re

from svddtune.client.errors import UsageError

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._@-]+")
_LONGEST = 64


def default_labeler() -> str:
    """Return the user's name, with characters that labeler names cannot have replaced."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = ""
    return _NOT_IN_NAMES.sub("-", user)[:_LONGEST] or "labeler"


def checked_labeler(name: str) -> str:
    """Return the name if it is a valid labeler name.

    Raises
    ------
    UsageError
        For anything but letters, digits and ``._@-``, and for more than 64 of them.
    """
    if not name or len(name) > _LONGEST or _NOT_IN_NAMES.search(name):
        raise UsageError(
            f"--labeler {name!r}: use 1 to {_LONGEST} letters, digits and ._@-",
            metadata={"field": "labeler", "value": name},
        )
    return name
