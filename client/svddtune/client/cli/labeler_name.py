"""The name of the labeler of a command."""

from __future__ import annotations

from svddtune.client.errors import UsageError
from svddtune.client.inputs.labeler_name import LONGEST, NOT_IN_NAMES


def checked_labeler(name: str) -> str:
    """Return the name if it is a valid labeler name.

    Raises
    ------
    UsageError
        For anything but letters, digits and ``._@-``, and for more than 64 of them.
    """
    if not name or len(name) > LONGEST or NOT_IN_NAMES.search(name):
        raise UsageError(
            f"--labeler {name!r}: use 1 to {LONGEST} letters, digits and ._@-",
            metadata={"field": "labeler", "value": name},
        )
    return name
