"""Service and worker reach Redis through TLS and with a password, as they do from other hosts."""

import asyncio
import contextlib
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import redis
import trustme
from tests.e2e.processes import service, worker

from svddtune.client import TuningClient
from svddtune.stack import EmbeddedServer

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

PASSWORD = "correct horse/battery@staple"


class Forwarder:
    """Ends TLS before a server that listens at a Unix socket: the packaged server has no TLS."""

    def __init__(self, context: ssl.SSLContext, target: str) -> None:
        self._context, self._target = context, target
        started: Future[int] = Future()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(started),))
        self._thread.start()
        self.port = started.result(10)

    def close(self) -> None:
        """Break all connections off, and take no more; nothing if that was done."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    async def _serve(self, started: Future[int]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0, ssl=self._context)
        started.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        server.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_unix_connection(self._target)
        try:
            await asyncio.gather(_pump(reader, forth), _pump(back, writer))
        finally:
            for one in (forth, writer):
                one.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@dataclass(frozen=True)
class Store:
    """A server behind TLS, and the files of its certificates."""

    forwarder: Forwarder
    folder: Path

    def url(
        self,
        *,
        scheme: str = "rediss",
        password: str = PASSWORD,
        authority: str | None = "authority",
        client: bool = True,
    ) -> str:
        files = {"ssl_ca_certs": authority}
        if client:
            files |= {"ssl_certfile": "client", "ssl_keyfile": "client"}
        options = "&".join(
            f"{name}={self.folder / file}.pem" for name, file in files.items() if file
        )
        user = f"svddtune:{quote(password, safe='')}"
        query = f"?{options}" if scheme == "rediss" else ""
        return f"{scheme}://{user}@127.0.0.1:{self.forwarder.port}/0{query}"


@contextmanager
def secured_store(folder: Path, data: Path) -> Iterator[Store]:
    """A server with one user, who needs a password and a client certificate."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    trustme.CA().cert_pem.write_to_path(folder / "stranger.pem")
    authority.issue_cert("worker@example.org").private_key_and_cert_chain_pem.write_to_path(
        folder / "client.pem"
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    with EmbeddedServer(data, fsync="no") as server:
        with redis.Redis.from_url(server.url) as client:
            client.acl_setuser(
                "svddtune",
                enabled=True,
                passwords=[f"+{PASSWORD}"],
                keys=["*"],
                channels=["*"],
                categories=["+@all"],
            )
            client.execute_command("ACL", "SETUSER", "default", "off")
        forwarder = Forwarder(context, server.url.removeprefix("unix://"))
        yield Store(forwarder, folder)
        forwarder.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with secured_store(tmp_path_factory.mktemp("tls"), tmp_path_factory.mktemp("redis")) as store:
        yield store


def test_session_ends_with_a_model_when_service_and_worker_use_tls_and_a_password(
    store: Store,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[:4] += 8.0
    with (
        service(store.url()) as front,
        worker(store.url()),
        TuningClient(front.ready["address"]) as client,
    ):
        session = client.create_session(client.upload_dataset(X), budget=3)
        with client.tuning(session) as tuning:
            while (query := tuning.next_query(timeout_s=120)) is not None:
                tuning.answer(query, "outlier" if query.row < 4 else "inlier")
        client.wait_until_completed(session, timeout_s=120)
        assert client.model(session).predict(X).shape == (40,)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"authority": "stranger"}, "ssl_ca_certs=FILE"),
        ({"authority": None}, "ssl_ca_certs=FILE"),
        ({"authority": "missing"}, "missing.pem, which cannot be read"),
        ({"client": False}, "ssl_certfile=FILE"),
        ({"password": "hunter2"}, "Check the user and the password"),
        ({"scheme": "redis"}, "write rediss://"),
    ],
    ids=["stranger", "no authority", "no file", "no client certificate", "password", "plain"],
)
def test_worker_says_what_is_wrong_with_its_connection_to_redis_without_the_password(
    store: Store, wrong: dict[str, str], words: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "svddtune.worker"],
        env=os.environ | {"SVDDTUNE_REDIS": store.url(**wrong)},  # type: ignore[arg-type]
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("STORE_UNAVAILABLE: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    for secret in (PASSWORD, quote(PASSWORD, safe=""), "hunter2"):
        assert secret not in done.stderr + done.stdout
