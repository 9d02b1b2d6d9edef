"""The file of bearer tokens: who has one, and its hash. A token itself is shown once, when made.

A token is ``svddtune_ID_SECRET``. The secret has 32 random bytes, so its plain SHA-256 cannot be
guessed from the file. The file is replaced as a whole; a service reads it again when it changes.
"""

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

# In the order of trust.
ROLES = ("viewer", "labeler", "tuner", "admin")

_MARK = "svddtune"
_SECRET_BYTES = 32
_FORMAT = 1


class TokenFileError(Exception):
    """The file cannot be read or written. The message is one line for the operator."""


@dataclass(frozen=True, slots=True)
class Token:
    """What the file has of a token. Times are seconds since 1970."""

    id: str
    name: str
    project: str
    role: str
    sha256: str
    created: int
    # None for never.
    expires: int | None = None

    def expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and now >= self.expires

    def proven_by(self, text: str) -> bool:
        """Whether a text is the token; takes the same time wherever it differs."""
        return hmac.compare_digest(self.sha256, _digest(text))


def id_in(text: str) -> str | None:
    """Return the id in a token; None where the text has not the form of one."""
    mark, _, rest = text.partition("_")
    found, _, secret = rest.partition("_")
    return found if mark == _MARK and found and secret else None


def read(path: Path) -> dict[str, Token]:
    """Return the tokens of a file by their ids. Raises TokenFileError."""
    return parsed(content_of(path), path)


def content_of(path: Path) -> bytes:
    """Return what a file has, whatever that is. Raises TokenFileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TokenFileError(f"{path} cannot be read: {error.strerror}") from error


def parsed(text: bytes, path: Path) -> dict[str, Token]:
    """Return the tokens in the text of a file by their ids. Raises TokenFileError."""
    try:
        content = json.loads(text)
        found = [Token(**one) for one in content["tokens"]]
        if content["format"] != _FORMAT:
            raise ValueError(f"format {content['format']}, which this release does not know")
        if wrong := next((one.role for one in found if one.role not in ROLES), None):
            raise ValueError(f"the role {wrong!r}")
    except (ValueError, KeyError, TypeError) as error:
        raise TokenFileError(f"{path} is no file of tokens: {error}") from error
    return {one.id: one for one in found}


def create(
    path: Path, *, name: str, project: str, role: str, expires: int | None = None
) -> tuple[Token, str]:
    """Add a token to a file, which need not be there yet. Returns it, and its text for the caller.

    Raises TokenFileError.
    """
    found = secrets.token_hex(6)
    text = f"{_MARK}_{found}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    token = Token(found, name, project, role, _digest(text), int(time.time()), expires)
    with _changing(path) as tokens:
        tokens[found] = token
    return token, text


def revoke(path: Path, token_id: str) -> Token:
    """Remove a token from a file. Raises TokenFileError, KeyError where there is no such token."""
    with _changing(path) as tokens:
        return tokens.pop(token_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _changing(path: Path) -> Iterator[dict[str, Token]]:
    """The tokens of a file, which replace it at the end of the block. One process at a time."""
    try:
        with (path.parent / f".{path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = read(path) if path.exists() else {}
            yield tokens
            _replace(path, tokens)
    except OSError as error:
        raise TokenFileError(f"{path} cannot be written: {error.strerror}") from error


def _replace(path: Path, tokens: dict[str, Token]) -> None:
    content = {"format": _FORMAT, "tokens": [asdict(one) for one in tokens.values()]}
    # (A temporary file has mode 0600.)
    with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        json.dump(content, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
