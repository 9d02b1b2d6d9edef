"""Signatures of the Standard Webhooks scheme (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from svddtune.client.errors import InvalidInput

_PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64
_TOLERANCE_S = 300.0


def read_secrets(path: Path) -> tuple[bytes, ...]:
    """Return the secrets of a file, one a line: ``whsec_`` and base64 of 24 to 64 bytes.

    Several secrets give several signatures, so that a receiver may change its secret.

    Raises
    ------
    InvalidInput
        SECRET_INVALID with the line; the secret itself is not named.
    """
    found = []
    # (What is not ASCII is no secret either, and gets the same error.)
    text = path.read_text(encoding="ascii", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            secret = base64.b64decode(line.strip().removeprefix(_PREFIX), validate=True)
        except ValueError:
            secret = b""
        if not _SHORTEST <= len(secret) <= _LONGEST:
            raise InvalidInput(
                f"{path} line {number} is not a secret: write {_PREFIX} and base64 of {_SHORTEST} "
                f"to {_LONGEST} random bytes, e.g. of: openssl rand -base64 32",
                reason="SECRET_INVALID",
                metadata={"file": str(path), "line": str(number)},
            )
        found.append(secret)
    if not found:
        raise InvalidInput(
            f"{path} contains no secret; write one of: openssl rand -base64 32",
            reason="SECRET_INVALID",
            metadata={"file": str(path)},
        )
    return tuple(found)


def signed_headers(
    secrets: Sequence[bytes], webhook_id: str, body: bytes, now_s: float
) -> dict[str, str]:
    """Return the headers webhook-id, webhook-timestamp and webhook-signature.

    Parameters
    ----------
    secrets : sequence of bytes
        One signature is made with each.
    webhook_id : str
        The same for all attempts of a delivery.
    body : bytes
        Exactly what is sent.
    now_s : float
        Time of the attempt, in seconds since the epoch.
    """
    timestamp = str(int(now_s))
    signatures = (_signature(secret, webhook_id, timestamp, body) for secret in secrets)
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def is_signed(
    secrets: Sequence[bytes],
    headers: Mapping[str, str],
    body: bytes,
    now_s: float | None = None,
    *,
    tolerance_s: float = _TOLERANCE_S,
) -> bool:
    """Return whether a body has a valid signature that is at most `tolerance_s` seconds old.

    Parameters
    ----------
    secrets : sequence of bytes
        One that fits suffices.
    headers : mapping
        Names in lower case, or a mapping that ignores case.
    body : bytes
        Exactly what was received.
    now_s : float, optional
        Seconds since the epoch; default the present.
    tolerance_s : float
        Greatest distance from the present, in either direction; default 300.
    """
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        return False
    if abs((time.time() if now_s is None else now_s) - int(timestamp)) > tolerance_s:
        return False
    webhook_id = headers.get("webhook-id", "")
    expected = [_signature(secret, webhook_id, timestamp, body).encode() for secret in secrets]
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(one, wanted) for one in given for wanted in expected)


def _signature(secret: bytes, webhook_id: str, timestamp: str, body: bytes) -> str:
    content = f"{webhook_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(secret, content, hashlib.sha256)).decode()}"
