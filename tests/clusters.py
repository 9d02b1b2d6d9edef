"""A Redis Cluster of real servers on this machine."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from redis.crc import key_slot
from tests.waiting import wait_until

from svddtune.stack.embedded import find_binary
from svddtune.stack.guard import guarded

SLOTS = 16384


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at; that of a Cluster's bus, 10,000 above, is a port, too."""
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            if (port := int(one.getsockname()[1])) < 55_000:
                ports.append(port)
        return ports


class Node:
    """A server that listens on a port; ``stop`` ends it."""

    def __init__(self, folder: Path, port: int, *options: str, binary: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port, self.folder = port, folder
        self.process = subprocess.Popen(
            guarded(
                [
                    *(binary or find_binary(), *options),
                    *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)),
                    *("--logfile", str(folder / "log"), "--daemonize", "no"),
                ]
            ),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(self._answers)

    def client(self) -> redis.Redis:
        """A client of this server."""
        return redis.Redis(port=self.port, protocol=2)

    def _answers(self) -> bool:
        with self.client() as client, contextlib.suppress(redis.RedisError):
            return bool(client.ping())
        return False

    def __enter__(self) -> "Node":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self.process.wait()


def data_options(fsync: str = "no") -> list[str]:
    """Options of a server that keeps data."""
    return [
        *("--save", "", "--appendonly", "yes", "--appendfsync", fsync),
        *("--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0"),
    ]


class RunningCluster:
    """Three masters, each with so many replicas, and the URL of the Cluster."""

    def __init__(self, nodes: list[Node], masters: int) -> None:
        self.nodes = nodes
        self.masters = nodes[:masters]
        self.url = "redis+cluster://" + ",".join(f"127.0.0.1:{one.port}" for one in nodes)
        self._join(masters)

    def _join(self, masters: int) -> None:
        for place, node in enumerate(self.nodes):
            with node.client() as client:
                if place < masters:
                    first, end = (SLOTS * (place + i) // masters for i in (0, 1))
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
        wait_until(lambda: all(self._knows_all(node) for node in self.nodes))
        for place, node in enumerate(self.nodes[masters:]):
            with node.client() as client, self.masters[place % masters].client() as master:
                client.execute_command(
                    "CLUSTER", "REPLICATE", master.execute_command("CLUSTER MYID")
                )
        wait_until(lambda: all(self._is_well(node) for node in self.nodes))

    def _knows_all(self, node: Node) -> bool:
        with node.client() as client:
            return int(client.cluster("INFO")["cluster_known_nodes"]) == len(self.nodes)

    def _is_well(self, node: Node) -> bool:
        with node.client() as client:
            info = client.info("replication")
            up = info["role"] == "master" or info.get("master_link_status") == "up"
            return bool(up and client.cluster("INFO")["cluster_state"] == "ok")

    def empty(self) -> None:
        """Remove all data."""
        for node in self.masters:
            with node.client() as client:
                client.flushall()

    def master_of(self, key: str) -> Node:
        """The node that was made the master of a key's slot."""
        slot = key_slot(key.encode())
        return next(
            node
            for place, node in enumerate(self.masters)
            if slot < SLOTS * (place + 1) // len(self.masters)
        )

    def found_keys(self) -> list[bytes]:
        """Keys on all masters."""
        keys: list[bytes] = []
        for node in self.masters:
            with node.client() as client:
                keys += client.scan_iter(count=1000)
        return keys


@contextmanager
def cluster(
    folder: Path, *, masters: int = 3, replicas: int = 0, binary: str | None = None
) -> Iterator[RunningCluster]:
    """A running Cluster. Its nodes take one for dead after two seconds."""
    nodes: list[Node] = []
    options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", *data_options()]
    try:
        nodes += (
            Node(folder / str(port), port, *options, binary=binary)
            for port in free_ports(masters * (1 + replicas))
        )
        yield RunningCluster(nodes, masters)
    finally:
        for node in nodes:
            node.kill()
