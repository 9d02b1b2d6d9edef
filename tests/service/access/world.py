"""A service that asks who calls, callers of two projects, and what one of the projects has."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from tests.e2e.processes import Process, service
from tests.service.harness import CALL_S, Harness, chunk, grid, header
from tests.service.test_scoring import MODEL, content_of, upload_requests

from svddtune.process import tokens
from svddtune.v1 import config_pb2, server_pb2, server_pb2_grpc

OWN, FOREIGN = "north", "south"


class Bearer(
    grpc.UnaryUnaryClientInterceptor,  # type: ignore[type-arg]
    grpc.UnaryStreamClientInterceptor,  # type: ignore[type-arg]
    grpc.StreamUnaryClientInterceptor,  # type: ignore[type-arg]
    grpc.StreamStreamClientInterceptor,  # type: ignore[type-arg]
):
    """Sends a token with every call."""

    def __init__(self, token: str) -> None:
        self._metadata = [("authorization", f"Bearer {token}")]

    def _call(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        return continuation(details._replace(metadata=self._metadata), request)

    intercept_unary_unary: Any = _call
    intercept_unary_stream: Any = _call
    intercept_stream_unary: Any = _call
    intercept_stream_stream: Any = _call


def with_token(channel: grpc.Channel, token: str) -> grpc.Channel:
    """A channel whose calls carry a token."""
    return grpc.intercept_channel(channel, Bearer(token)) if token else channel


class World:
    """A running service with a file of tokens."""

    def __init__(self, process: Process, redis_url: str, file: Path, log: Path) -> None:
        self.log = log
        self.process = process
        self.redis_url = redis_url
        self.file = file
        self.channel = grpc.insecure_channel(process.ready["address"])
        self._tokens: dict[tuple[str, str, str], str] = {}
        self._harnesses: list[Harness] = []

    def token(self, role: str, project: str = OWN, name: str = "") -> str:
        """The token of a caller, made when it is first asked for."""
        caller = (name or f"{role}-1", project, role)
        if caller not in self._tokens:
            name = caller[0]
            _, text = tokens.create(self.file, name=name, project=project, role=role)
            self._tokens[caller] = text
        return self._tokens[caller]

    def as_token(self, token: str) -> Harness:
        """Calls with a token."""
        self._harnesses.append(Harness(with_token(self.channel, token), self.redis_url))
        return self._harnesses[-1]

    def as_(self, role: str, project: str = OWN, name: str = "") -> Harness:
        """Calls of a caller."""
        return self.as_token(self.token(role, project, name))

    def info(self, token: str = "") -> server_pb2.GetServerInfoResponse:
        """What the server says of itself and the caller."""
        stub = server_pb2_grpc.ServerServiceStub(with_token(self.channel, token))
        return stub.GetServerInfo(server_pb2.GetServerInfoRequest())

    def close(self) -> None:
        """End all calls."""
        for harness in self._harnesses:
            harness.close()
        self.channel.close()


@dataclass(frozen=True, slots=True)
class Things:
    """Names of what a project has."""

    dataset: str
    session: str
    result: str
    model: str


@contextmanager
def world_at(redis_url: str, folder: Path, *further: str) -> Iterator[World]:
    """A service on a Redis, with a file of tokens in a folder."""
    file = folder / f"tokens-{uuid.uuid4().hex}.json"
    tokens.create(file, name="first", project=OWN, role="viewer")
    arguments = ("--tokens", str(file), "--http-listen", "127.0.0.1:0", *further)
    with service(redis_url, "127.0.0.1:0", *arguments, log=folder / "log") as process:
        world = World(process, redis_url, file, folder / "log")
        try:
            yield world
        finally:
            world.close()


def things_of(world: World, project: str = OWN) -> Things:
    """Give a project a dataset, a session that has no result yet, and a model."""
    admin = world.as_("admin", project)
    dataset = admin.upload(header(), chunk(grid())).name
    session = admin.create(dataset, config=config_pb2.SessionConfig(budget=6)).name
    parts = upload_requests(content_of(MODEL))
    model = admin.scoring.UploadModel(iter(parts), timeout=CALL_S).model.name
    return Things(dataset, session, f"{session}/results/1", model)
