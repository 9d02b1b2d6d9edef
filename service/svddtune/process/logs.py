"""Logs of a process: one line per event on stderr, as JSON or for people.

Events contain text from outside. JSON escapes it. Logs for people show control characters as escape
sequences, so that such text can neither forge a line nor control the terminal. Passwords in URLs
are hidden.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from svddtune.process import traces
from svddtune.text import redacted, visible


def set_up_logging(log_format: str, log_level: str) -> None:
    """Send events of structlog and the standard library to one handler; call once per process."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _name_trace,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    final: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, _hide_passwords, structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [
            _hide_passwords,
            _escape_control_characters,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
        )
    )
    logging.basicConfig(level=log_level.upper(), handlers=[handler])


class PlainFormatter(logging.Formatter):
    """Formats events without structlog: level, logger and message on one line."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line of an event."""
        return visible(redacted(super().formatMessage(record)))


def _name_trace(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    if "trace_id" not in event and (found := traces.trace_id()):
        event["trace_id"] = found
    return event


def _hide_passwords(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = redacted(value)
    return event


def _escape_control_characters(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = visible(value)
    return event
