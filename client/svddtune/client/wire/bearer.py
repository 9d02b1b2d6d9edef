"""The token that tells a service who calls, sent with every call of a channel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from svddtune.client.errors import InvalidInput, SvddtuneError, Unavailable

_VARIABLE = "SVDDTUNE_TOKEN"
_FILE_VARIABLE = "SVDDTUNE_TOKEN_FILE"

# A token, what returns the one that is valid now, or None for that of the environment.
Token = str | Callable[[], str] | None


class TokenFile:
    """Returns what a file holds now, so that whoever renews a token only has to write it."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._last = ""

    def __call__(self) -> str:
        """Read the file; where it cannot be read, return what was read last."""
        try:
            self._last = self._path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            if not self._last:
                raise InvalidInput(
                    f"The token cannot be read from {self._path}: {error}. Give the path of "
                    f"another file with the option --token-file or in {_FILE_VARIABLE}",
                    reason="INVALID_TOKEN",
                ) from None
        return self._last


def token_source(token: Token) -> Callable[[], str] | None:
    """Return what tells the token of a call; None for no token.

    Without `token` it is that of the environment, where a file comes before a text. The source
    raises InvalidInput (``INVALID_TOKEN``) for a token that cannot be sent or read, and Unavailable
    (``TOKEN_UNAVAILABLE``) where the caller's function fails.
    """
    if token is None and (file := os.environ.get(_FILE_VARIABLE, "")):
        token = TokenFile(file)
    elif token is None:
        token = os.environ.get(_VARIABLE, "")
    if isinstance(token, str):
        fixed = _checked(token)
        return (lambda: fixed) if fixed else None
    source = token

    def current() -> str:
        try:
            found = source()
        except SvddtuneError:
            raise
        except Exception as error:
            raise Unavailable(
                f"The function that returns the token failed: {error}", reason="TOKEN_UNAVAILABLE"
            ) from error
        return _checked(found)

    return current


def _checked(token: str) -> str:
    token = token.strip()
    # (A header takes nothing else. The token is a secret: it is not repeated.)
    if not all("!" <= sign <= "~" for sign in token):
        raise InvalidInput(
            "The token has signs that no token has: spaces, line breaks or letters beyond ASCII",
            reason="INVALID_TOKEN",
        )
    return token


class _Source:
    def __init__(self, token: Callable[[], str]) -> None:
        self._token = token

    def _headers(self, details: Any) -> list[tuple[str, str | bytes]]:
        token = self._token()
        return [*(details.metadata or ()), *([("authorization", f"Bearer {token}")] * bool(token))]


class _Bearer(
    _Source,
    grpc.UnaryUnaryClientInterceptor,  # type: ignore[type-arg]
    grpc.UnaryStreamClientInterceptor,  # type: ignore[type-arg]
    grpc.StreamUnaryClientInterceptor,  # type: ignore[type-arg]
    grpc.StreamStreamClientInterceptor,  # type: ignore[type-arg]
):
    def _call(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        return continuation(details._replace(metadata=self._headers(details)), request)

    intercept_unary_unary: Any = _call
    intercept_unary_stream: Any = _call
    intercept_stream_unary: Any = _call
    intercept_stream_stream: Any = _call


class _AsyncBearer(_Source):
    async def _call(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        metadata = grpc.aio.Metadata(*self._headers(details))
        return await continuation(details._replace(metadata=metadata), request)


# (grpc.aio takes an interceptor for one kind of call only.)
class _UnaryUnary(_AsyncBearer, grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[type-arg]
    intercept_unary_unary: Any = _AsyncBearer._call


class _UnaryStream(_AsyncBearer, grpc.aio.UnaryStreamClientInterceptor):  # type: ignore[type-arg]
    intercept_unary_stream: Any = _AsyncBearer._call


class _StreamUnary(_AsyncBearer, grpc.aio.StreamUnaryClientInterceptor):  # type: ignore[type-arg]
    intercept_stream_unary: Any = _AsyncBearer._call


class _StreamStream(_AsyncBearer, grpc.aio.StreamStreamClientInterceptor):  # type: ignore[type-arg]
    intercept_stream_stream: Any = _AsyncBearer._call


def bearer(source: Callable[[], str] | None) -> Sequence[Any]:
    """Return the interceptors of a channel: none without a token."""
    return [_Bearer(source)] if source else []


def async_bearer(source: Callable[[], str] | None) -> Sequence[Any]:
    """Return the same for asyncio."""
    kinds = (_UnaryUnary, _UnaryStream, _StreamUnary, _StreamStream)
    return [kind(source) for kind in kinds] if source else []
