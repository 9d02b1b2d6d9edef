"""The HTTP server of a service process, on the event loop of gRPC.

It serves calls, health, OpenAPI and the console.
"""

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from svddtune.service.access.identity import Identities
from svddtune.service.http import console
from svddtune.service.http.admission import Admission, KnowsCertificate
from svddtune.service.http.errors import refusal
from svddtune.service.http.gateway import Gateway
from svddtune.service.http.methods import Method
from svddtune.service.readiness import Lack
from svddtune.state.errors import InvalidInput

# Connections at once; further ones are told 503.
_MOST_CONNECTIONS = 2_000
_SAFE = ("GET", "HEAD", "OPTIONS")


class HttpServer:
    """Listens at one address."""

    def __init__(
        self,
        methods: Iterable[Method],
        *,
        lacks: Callable[[], Sequence[Lack]],
        hosts: Sequence[str],
        origins: Sequence[str],
        tls: tuple[Path, Path] | None,
        client_ca: Path | None,
        identities: Identities,
        issuer: str,
        end_s: float,
    ) -> None:
        """``hosts`` are the names it is reached under, none for any; ``tls`` certificate and key.

        ``client_ca`` has the authorities of clients that show a certificate, which none must.
        ``issuer`` is the origin where people sign in to the console, or empty.
        ``end_s`` are the seconds that open calls have when it stops.
        """
        cert, key = tls or (None, None)
        config = uvicorn.Config(
            _application(methods, lacks, hosts, origins, identities, issuer),
            http=KnowsCertificate,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            ssl_certfile=cert,
            ssl_keyfile=key,
            ssl_ca_certs=None if client_ca is None else str(client_ca),
            ssl_cert_reqs=ssl.CERT_NONE if client_ca is None else ssl.CERT_OPTIONAL,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=math.ceil(end_s),
        )
        self._scheme = "https" if tls else "http"
        self._server = _Embedded(config)
        self._serving: asyncio.Task[None] | None = None

    def listen(self, address: str) -> str:
        """Take an address, HOST:PORT. Returns the URL for clients; raises OSError."""
        host, _, port = address.rpartition(":")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.create_server((host.strip("[]"), int(port)), family=family)
        # asyncio sends small pieces at once (TCP_NODELAY) only where a socket names its protocol;
        # else each response waits 40 ms for the client's acknowledgement of its head.
        self._socket = socket.socket(
            family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=opened.detach()
        )
        return f"{self._scheme}://{host}:{self._socket.getsockname()[1]}"

    def start(self) -> None:
        """Serve."""
        self._serving = asyncio.create_task(self._server.serve([self._socket]))

    async def stop(self) -> None:
        """Take no further calls, and let those end that are open."""
        self._server.should_exit = True
        if self._serving:
            await self._serving


class _Embedded(uvicorn.Server):
    """A server that leaves signals to its process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class _Guard:
    """Keeps out web pages that no setting lets in.

    A page may send some requests to any server its browser reaches, though it cannot read the
    responses; its browser names the page's origin. A page whose host's name was made to lead to
    this machine may even read them; its browser names that host.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        request = Request(scope)
        refused = self._refused(request)
        await (refusal(refused) if refused else self._app)(scope, receive, send)

    def _refused(self, request: Request) -> InvalidInput | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        name = urlsplit(f"//{host}").hostname
        if self._hosts and name not in self._hosts:
            return InvalidInput(
                "HOST_REFUSED",
                f'The service does not answer under the name "{name}"; http_hosts sets its names.',
                host=host,
            )
        own = origin is None or urlsplit(origin).netloc == host
        if request.method not in _SAFE and not own and not {origin, "*"} & set(self._origins):
            return InvalidInput(
                "ORIGIN_REFUSED",
                f"Pages of {origin} may not use the service; http_origins sets which may.",
                origin=origin,
            )
        return None


def _application(
    methods: Iterable[Method],
    lacks: Callable[[], Sequence[Lack]],
    hosts: Sequence[str],
    origins: Sequence[str],
    identities: Identities,
    issuer: str,
) -> ASGIApp:
    described = files(__package__).joinpath("openapi.json").read_bytes()

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "SERVING"})

    async def ready(_: Request) -> Response:
        if missing := lacks():
            reasons = [asdict(one) for one in missing]
            return JSONResponse({"status": "NOT_SERVING", "reasons": reasons}, 503)
        return JSONResponse({"status": "SERVING"})

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    # (A path may hold line breaks, which no pattern of a Mount lets through.)
    router = Router(
        [
            *(Route("/livez", live), Route("/readyz", ready), Route("/openapi.json", openapi)),
            *console.routes(issuer),
        ],
        redirect_slashes=False,
        default=Gateway(methods),
    )
    guarded = _Guard(Admission(router, identities), hosts, origins)
    if not origins:
        return guarded
    # Outermost, so that a page can read refusals too.
    return CORSMiddleware(
        guarded,
        allow_origins=origins,
        allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
        allow_headers=(
            *("Authorization", "Content-Type", "Last-Event-ID"),
            *("Connect-Protocol-Version", "Connect-Timeout-Ms"),
        ),
        expose_headers=("Retry-After", "WWW-Authenticate"),
    )
