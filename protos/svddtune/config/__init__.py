"""The settings of a session, in one table for the client, the service, the workers and the docs.

A new setting is a field of the message in ``config.proto`` and a row of `table`. Checks, messages
and command-line options follow from both; a test compares them all.
"""

from svddtune.config.checks import InvalidConfig, Violation, changed, checked, completed
from svddtune.config.features import visible_columns
from svddtune.config.numbers import Numbers
from svddtune.config.table import OBSERVATIONS, SETTINGS, SessionConfig, Setting, Settings
from svddtune.config.wire import from_proto, to_proto

__all__ = [
    "OBSERVATIONS",
    "SETTINGS",
    "InvalidConfig",
    "Numbers",
    "SessionConfig",
    "Setting",
    "Settings",
    "Violation",
    "changed",
    "checked",
    "completed",
    "from_proto",
    "to_proto",
    "visible_columns",
]
