"""Escapes characters that control a terminal or change how text is displayed."""

from __future__ import annotations

import re

# Controls (C0, DEL, C1); marks, embeddings and isolates that turn the direction of text; separators
# of lines and paragraphs; halves of characters; tags, which nobody sees.
_STEERING = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_ALL = re.compile(f"[{_STEERING}]")
_ALL_BUT_LINES = re.compile(f"(?!\\n)[{_STEERING}]")
_RUNS = re.compile(f"[{_STEERING}]+")
_NAMES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str) -> str:
    """Return a text on one line in which each steering character is written as its escape."""
    return _ALL.sub(_escape, text)


def printable(text: str) -> str:
    """Return a text of one or more lines, otherwise as `visible`."""
    return _ALL_BUT_LINES.sub(_escape, text)


def on_one_line(text: str) -> str:
    """Return a text in which a blank stands for each run of steering characters."""
    return _RUNS.sub(" ", text).strip()


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    code = ord(char)
    if char in _NAMES:
        return _NAMES[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
