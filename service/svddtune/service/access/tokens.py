"""Callers by bearer tokens in a file, which ``svddtune token`` writes."""

import logging
import time
from pathlib import Path

from svddtune.process.tokens import Token, TokenFileError, content_of, id_in, parsed
from svddtune.service.access.caller import Caller
from svddtune.service.access.faults import invalid
from svddtune.service.access.identity import Credentials, caller_from

log = logging.getLogger(__name__)

# Times of files are coarse, those on a network are of another clock: a file that was changed so
# many seconds ago may have been changed once more, at the same time.
_SETTLED_S = 3.0


class TokenFile:
    """An identity provider."""

    def __init__(self, path: Path) -> None:
        """Raise TokenFileError where the file cannot be read."""
        self._path = path
        # (Looked at before the file is read: what changes meanwhile is read again.)
        self._version = _version(path)
        self._content = content_of(path)
        self._tokens = parsed(self._content, path)
        # What the log has last of a file that cannot be read.
        self._fault = ""

    async def caller(self, credentials: Credentials) -> Caller | None:
        """Return whose token it is; None for another kind of token."""
        token_id = id_in(credentials.token)
        if token_id is None:
            return None
        token = self._current().get(token_id)
        if token is None or not token.proven_by(credentials.token):
            raise invalid("there is no such token, or it was revoked")
        if token.expired(time.time()):
            raise invalid("the token has expired")
        return caller_from(token.name, token.project, token.role)

    def _current(self) -> dict[str, Token]:
        """The tokens as the file has them now, or as it had them while it was whole."""
        version = _version(self._path)
        if version != self._version or (version and not _settled(version)):
            self._read()
            self._version = version
        return self._tokens

    def _read(self) -> None:
        try:
            content = content_of(self._path)
            self._fault = ""
            if content == self._content:
                return
            self._content = content
            self._tokens = parsed(content, self._path)
            log.info("tokens read", extra={"count": len(self._tokens)})
        except TokenFileError as error:
            if str(error) != self._fault:
                log.error("the tokens stay as they were: %s", error)
            self._fault = str(error)


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    # (Of the times, a program that copies files can set all but this one.)
    return found.st_ctime_ns, found.st_ino, found.st_size


def _settled(version: tuple[int, int, int]) -> bool:
    return abs(time.time() - version[0] / 1e9) > _SETTLED_S
