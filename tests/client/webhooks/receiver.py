"""A receiver of webhooks over real HTTP, and the processes of the commands."""

import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


class Posted(NamedTuple):
    """One attempt that came, and the status it got."""

    headers: dict[str, str]
    body: bytes
    status: int

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)  # type: ignore[no-any-return]


class Receiver:
    """Answers as `rule` says, 204 by default, and keeps what came."""

    def __init__(self) -> None:
        self.posted: queue.Queue[Posted] = queue.Queue()
        self.rule: Callable[[dict[str, Any]], int] = lambda event: 204
        self.url = ""

    def next(self) -> Posted:
        return self.posted.get(timeout=30)

    def next_taken(self) -> Posted:
        """Return the next attempt that was answered with success."""
        while (found := self.next()).status >= 300:
            pass
        return found

    async def take(self, request: Request) -> Response:
        body = await request.body()
        status = self.rule(json.loads(body))
        self.posted.put(Posted(dict(request.headers), body, status))
        return Response(status_code=status)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver in a thread of this process."""
    receiver = Receiver()
    app = Starlette(routes=[Route("/", receiver.take, methods=["POST"])])
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        receiver.url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield receiver
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def command(log: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run ``svddtune webhook ...``; kill it at the end unless it has ended."""
    with log.open("a") as file:
        child = subprocess.Popen(
            [sys.executable, "-m", "svddtune.client", "webhook", *arguments],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()
