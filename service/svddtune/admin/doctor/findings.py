"""What a check finds."""

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """How bad it is; the values are the exit codes of the command."""

    OK = 0
    # Something is lost, or fails, if a further thing goes wrong.
    WARNING = 1
    # Something fails now.
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    # Stable, for programs.
    check: str
    severity: Severity
    # What was found.
    value: str
    # What to do; empty where it is OK.
    advice: str = ""


def ok(check: str, value: str) -> Finding:
    """Nothing is wrong."""
    return Finding(check, Severity.OK, value)


def warning(check: str, value: str, advice: str) -> Finding:
    """Something may go wrong."""
    return Finding(check, Severity.WARNING, value, advice)


def error(check: str, value: str, advice: str) -> Finding:
    """Something fails."""
    return Finding(check, Severity.ERROR, value, advice)
