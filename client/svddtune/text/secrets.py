"""Hides passwords in URLs."""

from __future__ import annotations

import re

_HIDDEN = "***"
# Up to the last @: a password that was not escaped may hold any sign.
_USER = re.compile(r"(?<=://)[^\s'\"]*@")
_OPTION = re.compile(r"(?<=[?&])(password|username|sentinel_password)=[^&\s'\"]*", re.IGNORECASE)


def redacted(text: str) -> str:
    """Return a text in which the users and passwords of URLs are hidden."""
    return _OPTION.sub(rf"\1={_HIDDEN}", _USER.sub(f"{_HIDDEN}@", text))


def url_fault(url: str, error: Exception) -> str:
    """Return a sentence on a URL that cannot be used; it has no part of a password.

    The message of the library may quote what it took for a port or a host.
    """
    shown = redacted(url)
    if shown == url:
        return f"{url!r}: {error}"
    return f"{shown!r}: not a valid URL; write special characters of a password as %XX"
