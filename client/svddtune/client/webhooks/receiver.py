"""The web application that receives alerts and verdicts."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from svddtune.client.errors import InvalidInput, SvddtuneError, Unavailable
from svddtune.client.webhooks.collection import (
    Collection,
    RecordPaths,
    from_grafana,
    from_records,
)
from svddtune.client.webhooks.verdicts import Verdicts

_SIGNATURES = ("x-hub-signature-256", "x-grafana-alerting-signature")
_RETRY_AFTER_S = 5
# A sender waits about ten seconds for a reply.
_PATIENCE_S = 8.0


class _Refused(Exception):
    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status, self.reason, self.message = status, reason, message


def create_app(
    collection: Collection | None,
    verdicts: Verdicts | None,
    *,
    records: RecordPaths | None = None,
    secret: str,
    most_bytes: int,
) -> Starlette:
    """Return the application.

    POST /alertmanager, /grafana and /records store alerts and records in `collection`; POST
    /verdicts labels by `verdicts`; GET /health says that it runs. What is None has no path.

    Parameters
    ----------
    collection : Collection or None
        Stores alerts.
    verdicts : Verdicts or None
        Labels a session.
    records : RecordPaths, optional
        Where the objects posted to /records have their id and time.
    secret : str
        Bearer token, or key of the body's HMAC-SHA256; "" for none.
    most_bytes : int
        Limit of a body.
    """

    async def body_of(request: Request) -> Any:
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > most_bytes:
                raise _Refused(413, "BODY_TOO_LARGE", f"The body has more than {most_bytes} bytes")
        if secret and not _is_allowed(request, bytes(data), secret):
            raise _Refused(
                401,
                "UNAUTHENTICATED",
                "Send the secret as a bearer token, or sign the body with it",
            )
        try:
            return json.loads(data, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise _Refused(400, "PAYLOAD_INVALID", f"The body is not JSON: {error}") from None

    async def alerts(request: Request) -> Response:
        assert collection is not None
        payload = await body_of(request)
        if request.url.path == "/grafana":
            payload = from_grafana(payload)
        elif request.url.path == "/records" and records is not None:
            payload = from_records(payload, records)
        new = collection.add(payload)
        return JSONResponse({"new": new, "observations": len(collection)})

    async def labels(request: Request) -> Response:
        assert verdicts is not None
        content = await body_of(request)
        async with asyncio.timeout(_PATIENCE_S):
            return JSONResponse(await verdicts.give(content))

    async def health(request: Request) -> Response:
        return JSONResponse({})

    routes = [Route("/health", health)]
    if collection is not None:
        paths = ["/alertmanager", "/grafana", *(["/records"] if records else [])]
        routes += [Route(path, alerts, methods=["POST"]) for path in paths]
    if verdicts is not None:
        routes.append(Route("/verdicts", labels, methods=["POST"]))
    return Starlette(
        routes=routes,
        exception_handlers={
            _Refused: _refused,
            SvddtuneError: _failed,
            TimeoutError: _late,
            OSError: _not_stored,
        },
    )


def _is_allowed(request: Request, body: bytes, secret: str) -> bool:
    bearer = f"Bearer {secret}".encode()
    if hmac.compare_digest(request.headers.get("authorization", "").encode(), bearer):
        return True
    signature = hmac.digest(secret.encode(), body, hashlib.sha256).hex().encode()
    given = [request.headers.get(name, "").removeprefix("sha256=") for name in _SIGNATURES]
    return any(hmac.compare_digest(one.encode(), signature) for one in given)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _error(status: int, reason: str, message: str, **metadata: str) -> Response:
    headers = {"retry-after": str(_RETRY_AFTER_S)} if status == 503 else {}
    error = {"reason": reason, "message": message, "metadata": metadata}
    return JSONResponse({"error": error}, status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, _Refused)
    return _error(error.status, error.reason, error.message)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, SvddtuneError)
    if isinstance(error, Unavailable):
        status = 503
    else:
        status = 400 if isinstance(error, InvalidInput) else 409
    return _error(status, error.reason, error.message, **error.metadata)


async def _late(request: Request, error: Exception) -> Response:
    return _error(503, "UNAVAILABLE", "The service is away; post it again")


async def _not_stored(request: Request, error: Exception) -> Response:
    return _error(503, "FILE", f"The notification cannot be stored: {error}")
