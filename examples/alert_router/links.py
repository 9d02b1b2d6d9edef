"""Signed links, which only this program can make."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass

CHOICES = ("inlier", "outlier", "skip")


@dataclass(frozen=True, slots=True)
class Click:
    """The content of a link: a message and one of `CHOICES`."""

    message: str
    choice: str


class Links:
    """Makes and reads links below `public_url`."""

    def __init__(self, public_url: str, secret: str) -> None:
        self._base = public_url.rstrip("/")
        self._secret = secret.encode()

    def of(self, message: str) -> dict[str, str]:
        """Return the link of each choice for a message."""
        return {
            choice: f"{self._base}/click/{self._sign(f'{message}/{choice}')}" for choice in CHOICES
        }

    def read(self, token: str) -> Click | None:
        """Return the content of a link's last part; None if this program did not make it."""
        text, _, signature = token.partition(".")
        try:
            content = base64.urlsafe_b64decode(text.encode("ascii")).decode()
        except (binascii.Error, UnicodeError):
            return None
        if not hmac.compare_digest(self._sign(content).partition(".")[2], signature):
            return None
        message, _, choice = content.rpartition("/")
        return Click(message, choice)

    def _sign(self, content: str) -> str:
        text = base64.urlsafe_b64encode(content.encode()).decode()
        digest = hmac.new(self._secret, content.encode(), hashlib.sha256).digest()
        return f"{text}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
