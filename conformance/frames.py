"""Frames of the dialogue as protobuf JSON: patterns, variables, and statuses in short form."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from google.protobuf import duration_pb2, json_format
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

Json: TypeAlias = Any
DOMAIN = "svddtune.github.io"
_LATER = re.compile(r"\$in(\d+)")


def to_json(message: Message) -> dict[str, Json]:
    """Return a message as protobuf JSON, with the defaults of fields without presence."""
    return json_format.MessageToDict(message, always_print_fields_with_no_presence=True)


def match(pattern: Json, actual: Json, variables: Mapping[str, Json]) -> dict[str, Json] | None:
    """Compare a frame with a pattern.

    Parameters
    ----------
    pattern : JSON
        What is expected; see README.md.
    actual : JSON
        What came, None for a field that is absent.
    variables : mapping
        The values captured so far.

    Returns
    -------
    dict or None
        The values captured by this pattern, None if it does not match.
    """
    if isinstance(pattern, dict):
        if not isinstance(actual, dict):
            return None
        captured: dict[str, Json] = {}
        for key, part in pattern.items():
            found = match(part, actual.get(key), {**variables, **captured})
            if found is None:
                return None
            captured |= found
        return captured
    if isinstance(pattern, list) and pattern:
        if not isinstance(actual, list) or len(actual) != len(pattern):
            return None
        captured = {}
        for part, value in zip(pattern, actual, strict=True):
            found = match(part, value, {**variables, **captured})
            if found is None:
                return None
            captured |= found
        return captured
    if isinstance(pattern, str) and pattern.startswith("$"):
        return _match_variable(pattern, actual, variables)
    if not pattern and not actual:
        return {}
    return {} if pattern == actual else None


def _match_variable(
    name: str, actual: Json, variables: Mapping[str, Json]
) -> dict[str, Json] | None:
    if name in variables:
        return {} if variables[name] == actual else None
    if not actual:
        return None
    return {} if name == "$any" else {name: actual}


def fill(template: Json, variables: Mapping[str, Json]) -> Json:
    """Return a frame with the values of its variables; ``$in60`` is the time in 60 seconds."""
    if isinstance(template, dict):
        return {key: fill(part, variables) for key, part in template.items()}
    if isinstance(template, list):
        return [fill(part, variables) for part in template]
    if isinstance(template, str) and template.startswith("$"):
        if later := _LATER.fullmatch(template):
            moment = datetime.now(UTC) + timedelta(seconds=int(later[1]))
            return moment.isoformat().replace("+00:00", "Z")
        if template not in variables:
            raise ValueError(f"no frame has given {template} a value")
        return variables[template]
    return template


def status_of(short: Mapping[str, Json]) -> status_pb2.Status:
    """Return a status from its short form.

    Parameters
    ----------
    short : mapping
        ``code`` (name), and optionally ``message``, ``reason``, ``metadata``, ``violations``
        (field to description) and ``retry_after_seconds``.
    """
    status = status_pb2.Status(
        code=code_pb2.Code.Value(short["code"]), message=short.get("message", "As the script says.")
    )
    details: list[Message] = []
    if "reason" in short:
        details.append(
            error_details_pb2.ErrorInfo(
                reason=short["reason"], domain=DOMAIN, metadata=short.get("metadata", {})
            )
        )
    if "violations" in short:
        violation = error_details_pb2.BadRequest.FieldViolation
        details.append(
            error_details_pb2.BadRequest(
                field_violations=[
                    violation(field=field, description=description)
                    for field, description in short["violations"].items()
                ]
            )
        )
    if "retry_after_seconds" in short:
        nanos = round(short["retry_after_seconds"] * 1e9)
        delay = duration_pb2.Duration(seconds=nanos // 10**9, nanos=nanos % 10**9)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    for detail in details:
        status.details.add().Pack(detail)
    return status


def short_of(status: status_pb2.Status) -> dict[str, Json]:
    """Return the short form of a status: its code, message and reason."""
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info):
            break
    return {
        "code": code_pb2.Code.Name(status.code),
        "message": status.message,
        "reason": info.reason,
        "domain": info.domain,
        "metadata": dict(info.metadata),
    }
