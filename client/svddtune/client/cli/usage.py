"""The error for commands given wrongly."""

from __future__ import annotations

from svddtune.client.errors import InvalidInput


class UsageError(InvalidInput):
    """The command was given wrongly: another option, or another value, is needed."""

    default_reason = "USAGE"
