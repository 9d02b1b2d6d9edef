"""Turns away requests over HTTP that nobody may make, before their bodies are read."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from svddtune.service.access.faults import missing
from svddtune.service.access.identity import Credentials, Identities, bearer_token
from svddtune.service.http import console
from svddtune.service.http.errors import refusal
from svddtune.state.errors import StateError

# What says nothing of sessions or data.
_OPEN = {
    *("/livez", "/readyz", "/openapi.json", "/v1/server"),
    "/svddtune.v1.ServerService/GetServerInfo",
}
_CERTIFICATE = "client_certificate"


class Admission:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGIApp, identities: Identities) -> None:
        self._app = app
        self._identities = identities

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        request = Request(scope)
        path = scope["path"]
        if self._identities.asked and path not in _OPEN and not console.is_open(path):
            try:
                token = bearer_token(request.headers.items())
                caller = await self._identities.caller(Credentials(token, certificate_of(request)))
                if not caller.known:
                    raise missing()
            except StateError as error:
                self._identities.note_refusal(error, peer_of(request))
                await refusal(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def peer_of(request: Request) -> str:
    """The address of the client, in the form of gRPC's."""
    client = request.client
    return f"http:{client.host}:{client.port}" if client else "http"


def certificate_of(request: Request) -> bytes:
    """Return the client's certificate, in PEM; empty where the connection has none."""
    return bytes(request.scope.get("state", {}).get(_CERTIFICATE, b""))


class KnowsCertificate(H11Protocol):
    """A connection whose requests carry the certificate that their client has shown."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Note the certificate."""
        super().connection_made(transport)
        secured = self.transport.get_extra_info("ssl_object")
        shown = secured.getpeercert(binary_form=True) if secured else None
        if shown:
            from svddtune.service.access.certificates import pem_of

            self.app_state = {**self.app_state, _CERTIFICATE: pem_of(shown)}
