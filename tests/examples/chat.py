"""A chat for tests: a real web server that keeps the messages it gets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.waiting import wait_until


@dataclass
class Posted:
    """A message as shown to people."""

    id: str
    to: str
    text: str
    links: dict[str, str]
    edits: list[str] = field(default_factory=list)


class FakeChat:
    """Messages in the order of arrival; with `down` the chat refuses requests."""

    def __init__(self) -> None:
        self.messages: list[Posted] = []
        self.down = False
        self.refused = 0
        self.url = ""
        self._keys: dict[str, Posted] = {}
        self.app = Starlette(
            routes=[
                Route("/messages", self._post, methods=["POST"]),
                Route("/messages/{id}", self._patch, methods=["PATCH"]),
            ]
        )

    async def _post(self, request: Request) -> Response:
        if self.down:
            self.refused += 1
            return Response(status_code=503)
        body: dict[str, Any] = await request.json()
        key = request.headers["Idempotency-Key"]
        if key not in self._keys:
            message = Posted(str(len(self.messages)), body["to"], body["text"], body["links"])
            self._keys[key] = message
            self.messages.append(message)
        return JSONResponse({"id": self._keys[key].id})

    async def _patch(self, request: Request) -> Response:
        body: dict[str, Any] = await request.json()
        message = self.messages[int(request.path_params["id"])]
        message.edits.append(body["text"])
        message.links = body["links"]
        return JSONResponse({})

    def wait_for(self, number: int) -> Posted:
        """Wait for message `number`, counted from 0."""
        wait_until(lambda: len(self.messages) > number, timeout_s=30)
        return self.messages[number]


@contextmanager
def fake_chat() -> Iterator[FakeChat]:
    """Serve a chat on a free port."""
    chat = FakeChat()
    server = uvicorn.Server(uvicorn.Config(chat.app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        chat.url = f"http://127.0.0.1:{port}"
        yield chat
    finally:
        server.should_exit = True
        thread.join()
