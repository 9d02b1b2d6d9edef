"""The name under which a person labels who gave none."""

from __future__ import annotations

import getpass
import re

NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._@-]+")
"""Characters that names of labelers cannot have."""

LONGEST = 64


def default_labeler() -> str:
    """Return the user's name, with characters that labeler names cannot have replaced."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = ""
    return NOT_IN_NAMES.sub("-", user)[:LONGEST] or "labeler"
