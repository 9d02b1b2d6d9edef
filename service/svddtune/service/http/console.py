"""Serves the console: pages for people, built from ``console/`` into the folder beside this module.

The files hold no data and need no token; what they show they get by the calls that anybody makes.
"""

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files
from mimetypes import guess_type

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE = "/"
ASSETS = "/assets/"
_PAGE_FILE = "index.html"

_HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    # A new version of the service brings new files under the same names.
    "cache-control": "no-cache",
}


def _policy(issuer: str) -> str:
    """Scripts and styles come from the service alone, so no text that is shown can become either.

    The pages may call the service, and the origin where people sign in if there is one.
    """
    return "; ".join(
        (
            *("default-src 'none'", "script-src 'self'", "style-src 'self'"),
            *("img-src 'self' data:", f"connect-src 'self' {issuer}".rstrip()),
            *("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
        )
    )


def is_open(path: str) -> bool:
    """Whether a path is the console's: it says nothing of sessions or data."""
    return path == PAGE or path.startswith(ASSETS)


def routes(issuer: str = "") -> list[Route]:
    """Return the routes of the page and of its files, whose contents are read once.

    ``issuer`` is the origin where people sign in.
    """
    folder = files(__package__).joinpath("console")
    held = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    paths = {PAGE: _PAGE_FILE, **{f"{ASSETS}{name}": name for name in held}}
    policy = _policy(issuer)
    return [Route(path, _sends(name, held[name], policy)) for path, name in paths.items()]


def _sends(name: str, content: bytes, policy: str) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers with one file, or says that the client has it."""
    kind = guess_type(name)[0] or "text/plain"
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**_HEADERS, "content-security-policy": policy, "etag": tag}

    async def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    return send
