"""A TCP proxy before a server.

It can lose or hold the replies of Redis, switch to another server, hold or delay what is sent, and
cut connections or half of them.
"""

import contextlib
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# The bytes that mark a request as the call of a script.
_SCRIPT = b"EVALSHA"


class Proxy:
    """A proxy that listens on a port and forwards to HOST:PORT, or to ``unix://PATH``."""

    def __init__(self, target: str) -> None:
        self.target = target
        # Number of lost replies.
        self.lost = 0
        self._lock = threading.Lock()
        self._to_lose = 0
        self._mark = b""
        self._often: float = 0
        self._random = random.Random(0)
        self._connections: set[socket.socket] = set()
        # Sockets to clients among them.
        self._clients: set[socket.socket] = set()
        self._refuses = False
        # Seconds by which everything arrives later.
        self.delay_s = 0.0
        # Number of bytes that came from clients.
        self.received = 0
        self._hold_at: int | None = None
        # Set while nothing more is forwarded.
        self.held = threading.Event()
        self._released = threading.Event()
        self._replies_pass = threading.Event()
        self._replies_pass.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = f"redis://{self.address}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_next(self, mark: bytes = _SCRIPT) -> None:
        """Lose the reply to the next request that has the mark, and close its connection."""
        with self._lock:
            self._to_lose, self._mark = 1, mark

    def lose_some(self, often: float, seed: int) -> None:
        """Lose the replies to this share of script calls from now on."""
        with self._lock:
            self._often, self._random = often, random.Random(seed)

    def hold_at(self, count: int) -> None:
        """Forward nothing more, once, when clients have sent so many bytes, until ``cut``."""
        with self._lock:
            self._hold_at = count

    def pass_on(self, client: socket.socket, data: bytes) -> bool:
        """Count what a client sent; wait where it is to be held or delayed.

        Returns whether the client is still connected.
        """
        if self.delay_s:
            time.sleep(self.delay_s)
        with self._lock:
            if client not in self._clients:
                return False
            self.received += len(data)
            if self._hold_at is None or self.received < self._hold_at:
                return True
        self.held.set()
        self._released.wait()
        with self._lock:
            return client in self._clients

    def hold_replies(self) -> None:
        """Let nothing more through that the server says, until ``cut``, which loses it."""
        self._replies_pass.clear()

    def wait_for_replies(self) -> None:
        """Return once what the server says may pass."""
        self._replies_pass.wait()

    def cut(self) -> None:
        """End all connections that are open now, and hold nothing more.

        They end at once: a client that loses one and uses another sends nothing through it.
        """
        with self._lock:
            self._hold_at = None
            left = list(self._connections)
            self._connections.clear()
            self._clients.clear()
        for one in left:
            _end(one)
        self._released.set()
        self._replies_pass.set()

    def half_close(self) -> None:
        """Tell all clients that nothing more comes, while what they send still arrives."""
        with self._lock:
            left = list(self._clients)
        for one in left:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_WR)

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        """End all connections, and let none be made meanwhile."""
        self._refuses = True
        self.cut()
        try:
            yield
        finally:
            self._refuses = False

    def close(self) -> None:
        """End all connections."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._refuses:
                    client.close()
                    continue
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    server = _connected(self.target)
                except OSError:
                    client.close()
                    continue
                _Pair(self, client, server)

    def opened(self, client: socket.socket, server: socket.socket) -> None:
        """Register the sockets of a connection."""
        with self._lock:
            self._connections.update((client, server))
            self._clients.add(client)

    def closed(self, client: socket.socket, server: socket.socket) -> None:
        """Unregister the sockets of a closed connection."""
        with self._lock:
            self._connections.difference_update((client, server))
            self._clients.discard(client)

    def spare(self) -> None:
        """Lose the next reply instead, because this request had no effect."""
        with self._lock:
            self.lost -= 1
            self._to_lose, self._mark = 1, _SCRIPT

    def is_to_lose(self, request: bytes) -> bool:
        """Whether the reply to this request is lost."""
        with self._lock:
            if self._to_lose and self._mark in request:
                self._to_lose -= 1
            elif not (_SCRIPT in request and self._random.random() < self._often):
                return False
            self.lost += 1
            return True


class _Pair:
    """A client's connection with its connection to the server."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._loses = False
        proxy.opened(client, server)
        for pump in (self._forth, self._back):
            threading.Thread(target=pump, daemon=True).start()

    def _forth(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._client.recv(1 << 16):
                if not self._proxy.pass_on(self._client, data):
                    break
                self._loses = self._loses or self._proxy.is_to_lose(data)
                self._server.sendall(data)
        self._end()

    def _back(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._server.recv(1 << 16):
                if self._loses:
                    if not data.startswith(b"-NOSCRIPT"):
                        break
                    self._loses = False
                    self._proxy.spare()
                self._proxy.wait_for_replies()
                self._client.sendall(data)
        self._end()

    def _end(self) -> None:
        _end(self._client)
        _end(self._server)
        self._proxy.closed(self._client, self._server)


def _connected(target: str) -> socket.socket:
    if target.startswith("unix://"):
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(target.removeprefix("unix://"))
        except OSError:
            server.close()
            raise
        return server
    host, _, port = target.rpartition(":")
    server = socket.create_connection((host, int(port)))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    """Start a proxy to this server."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
