"""Two services, two workers, a store and two labelers, all of them real, with proxies between."""

import contextlib
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.disk import SmallDisk, small_disk
from tests.chaos.labelers import Journal, LabelerProgram
from tests.e2e.processes import Process, service, worker
from tests.proxy import Proxy
from tests.waiting import wait_until
from tools.debian import TOOLS

from svddtune.client import TuningClient
from svddtune.stack import EmbeddedServer
from svddtune.stack.embedded import find_binary
from svddtune.state.connect import Redis, connect

NAMES = ("ann", "bob")
# Starts a process, of the version whose tree is given or of this one.
Make = Callable[[Path | None], Process]


def clock_library() -> Path | None:
    """The library that lets the store's clock jump; None if it is missing.

    ``make test-tools`` fetches it, and Debian's package libfaketime has it.
    """
    name = "libfaketimeMT.so.1"
    found = [*TOOLS.glob(name), *sorted(Path("/usr/lib").glob(f"*/faketime/{name}"))]
    return found[0] if sys.platform == "linux" and found else None


class Store:
    """A server with an append-only file, synced at each write, that can be killed and replaced.

    ``replicated``: it always has a replica, which may take over. ``may_mount``: its data are on a
    small disk, if this process can mount one.
    """

    def __init__(self, folder: Path, *, replicated: bool = False, may_mount: bool = True) -> None:
        self._folder, self._number = folder.resolve(), 0
        self._may_mount = may_mount
        # Data directory -> its disk, where this process may mount.
        self._disks: dict[Path, SmallDisk] = {}
        # Data directory -> the port that replicas use.
        self._ports: dict[Path, int] = {}
        self._clock = folder / "clock"
        self._ahead_s = 0.0
        self._binary = self._with_clock()
        self.server = self._start()
        self.proxy = Proxy(self.server.url)
        self.replica = self._follower() if replicated else None

    def _with_clock(self) -> str:
        binary, library = find_binary(), clock_library()
        if library is None:
            return binary
        self._clock.write_text("+0\n")
        program = self._folder / "store.sh"
        program.write_text(
            f"#!/bin/sh\nLD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={self._clock} "
            f'FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 exec {binary} "$@"\n'
        )
        program.chmod(0o700)
        return str(program)

    def _start(self, data_dir: Path | None = None) -> EmbeddedServer:
        if data_dir is not None:
            return EmbeddedServer(data_dir, binary=self._binary)
        folder = self._folder / f"r{self._number}"
        if self._may_mount and (disk := small_disk(folder)):
            self._disks[folder] = disk
        return EmbeddedServer(folder, binary=self._binary)

    @property
    def has_clock(self) -> bool:
        """Whether its clock can jump."""
        return self._binary.endswith(".sh")

    @property
    def has_small_disk(self) -> bool:
        """Whether its data are on a small disk."""
        return self.server.data_dir in self._disks

    @property
    def pid(self) -> int:
        """The server's."""
        return self.server.process.pid

    @contextmanager
    def direct(self) -> Iterator[Redis]:
        """A client that no fault of the network touches."""
        with connect(self.server.url) as client:
            yield client

    def kill(self, away_s: float = 0.0) -> None:
        """Kill it, and start it again with its data."""
        self.server.process.kill()
        self.server.process.wait(timeout=10)
        time.sleep(away_s)
        self.start_again()

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """No file of the server grows any more.

        With fsync at each write it ends rather than serving what it cannot keep.
        """
        if disk := self._disks.get(self.server.data_dir):
            with disk.full():
                yield
            return
        limit = resource.RLIM_INFINITY
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (1, limit))
        yield
        if self.server.process.poll() is None:
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (limit, limit))

    def start_again(self) -> None:
        """Start it where it has ended, as who operates it would do."""
        if self.server.process.poll() is not None:
            self.server.stop()
            self.server = self._start(self.server.data_dir)
            self.proxy.target = self.server.url
            if self.replica is not None:
                self._port(self.server)

    def fail_over(self) -> None:
        """A replica that has everything becomes the master, and the old one ends."""
        old, new = self.server, self.replica or self._follower()
        with connect(old.url) as first, connect(new.url) as second:
            wait_until(lambda: second.info("replication")["master_link_status"] == "up")
            first.execute_command("FAILOVER", "TO", "127.0.0.1", self._port(new))
            wait_until(lambda: second.info("replication")["role"] == "master")
        self._follow(new)
        old.stop()

    def lose_master(self) -> None:
        """Kill the master; its replica takes over with what it has."""
        assert self.replica is not None
        old, new = self.server, self.replica
        old.process.kill()
        old.process.wait(timeout=10)
        with connect(new.url) as client:
            client.replicaof("NO", "ONE")
        self._follow(new)
        old.stop()

    def _follow(self, new: EmbeddedServer) -> None:
        """Lead everybody to the new master."""
        self.server, self.proxy.target = new, new.url
        self.proxy.cut()
        if self.replica is not None:
            self.replica = self._follower()

    def _follower(self) -> EmbeddedServer:
        """A new replica that has everything."""
        self._number += 1
        replica = self._start()
        with connect(self.server.url) as master, connect(replica.url) as client:
            master.config_set("repl-diskless-sync-delay", 0)
            # It tells the master its port when it connects.
            self._port(replica)
            client.replicaof("127.0.0.1", self._port(self.server))
            wait_until(lambda: client.info("replication")["master_link_status"] == "up")
        return replica

    def _port(self, server: EmbeddedServer) -> int:
        """The port of a server, which listens at it from now on."""
        port = self._ports.get(server.data_dir) or free_port()
        self._ports[server.data_dir] = port
        with connect(server.url) as client:
            client.config_set("port", port)
        return port

    def jump(self, seconds: float) -> None:
        """Let its clock jump from now on."""
        self._ahead_s += seconds
        self._clock.write_text(f"{self._ahead_s:+.3f}\n")

    def close(self) -> None:
        self.proxy.close()
        for one in (self.server, self.replica):
            if one is not None:
                one.stop()
        for disk in self._disks.values():
            disk.close()


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Deployment:
    """All processes. What was killed is replaced beside the faults that follow.

    ``earlier``: the tree of an earlier version, whose services and workers start first.
    """

    def __init__(
        self, folder: Path, *, replicated: bool = False, earlier: Path | None = None
    ) -> None:
        self._earlier = earlier
        # With a replica, acknowledgements wait for it.
        self._settings = ("--min-replicas", "1") if replicated else ()
        self.log = folder / "log"
        self._pool = ThreadPoolExecutor(4)
        self._coming: list[Future[None]] = []
        with contextlib.ExitStack() as stack:
            stack.callback(self._pool.shutdown)
            self.store = Store(folder, replicated=replicated)
            stack.callback(self.store.close)
            self.services = self._several(self._service)
            self.workers = self._several(self._worker)
            stack.callback(self._stop_processes)
            # One for each labeler, as labelers of one service may be cut off alone.
            self.fronts = [Proxy(str(one.ready["address"])) for one in self.services]
            self._owners_front = Proxy(self.fronts[0].target)
            for front in (*self.fronts, self._owners_front):
                stack.callback(front.close)
            self.journal = Journal()
            self.labelers = [
                LabelerProgram(name, front.address, self.journal, self.log)
                for name, front in zip(NAMES, self.fronts, strict=True)
            ]
            for labeler in self.labelers:
                stack.callback(labeler.close)
            self.owner = stack.enter_context(TuningClient(self._owners_front.address))
            self._stack = stack.pop_all()

    def _several(self, make: Make) -> list[Process]:
        return list(self._pool.map(lambda _: make(self._earlier), range(2)))

    def _service(self, tree: Path | None) -> Process:
        url, settings = self.store.proxy.url, self._settings
        return service(url, "127.0.0.1:0", *settings, log=self.log, tree=tree)

    def _worker(self, tree: Path | None) -> Process:
        return worker(self.store.proxy.url, log=self.log, tree=tree)

    def lead_to(self, at: int) -> None:
        """Let labelers and owner use that service alone, as a load balancer does."""
        for front in (*self.fronts, self._owners_front):
            front.target = str(self.services[at].ready["address"])

    def lead_to_all(self) -> None:
        """Let each labeler use a service of its own again."""
        for number, front in enumerate(self.fronts):
            front.target = str(self.services[number].ready["address"])
        self._owners_front.target = self.fronts[0].target

    def end_service(self, at: int, *, hard: bool, swap: bool = False) -> None:
        """End a service; clients go to the other, and another one starts meanwhile.

        ``swap``: one of the other version.
        """
        self.ready()
        self.lead_to(1 - at)
        self._replace(self.services, at, self._service, hard=hard, swap=swap)

    def end_worker(self, at: int, *, hard: bool, swap: bool = False) -> None:
        """End a worker; another one starts meanwhile, with ``swap`` of the other version."""
        self._replace(self.workers, at, self._worker, hard=hard, swap=swap)

    def _replace(self, crew: list[Process], at: int, make: Make, *, hard: bool, swap: bool) -> None:
        gone = crew[at]
        tree = gone.tree if not swap else None if gone.tree else self._earlier
        if hard:
            gone.kill()

        def replace() -> None:
            if not hard:
                gone.stop()
            crew[at] = started(make, tree)

        self._coming.append(self._pool.submit(replace))

    @property
    def replacing(self) -> bool:
        """Whether what was ended is still being replaced."""
        return not all(one.done() for one in self._coming)

    def ready(self) -> None:
        """Return once what was ended has been replaced."""
        for one in self._coming:
            one.result(timeout=60)
        self._coming.clear()
        self.lead_to_all()

    def processes(self) -> dict[str, Process]:
        """Services and workers by name."""
        return {
            f"{role} {number}": one
            for role, crew in (("service", self.services), ("worker", self.workers))
            for number, one in enumerate(crew)
        }

    def close(self) -> None:
        self._stack.close()

    def _stop_processes(self) -> None:
        # Each is stopped, whatever becomes of the others.
        with contextlib.ExitStack() as stack:
            for one in self.processes().values():
                stack.callback(stop, one)


def stop(process: Process) -> None:
    """Stop a process; one that does not end is killed, and that is an error."""
    if process.ended:
        return
    try:
        process.stop()
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def started(make: Make, tree: Path | None) -> Process:
    """Start a process; again where the store was away just then, as a supervisor does."""
    for _ in range(5):
        with contextlib.suppress(AssertionError):
            return make(tree)
    return make(tree)


@contextmanager
def deployed(
    folder: Path, *, replicated: bool = False, earlier: Path | None = None
) -> Iterator[Deployment]:
    """A deployment with its data in a folder."""
    deployment = Deployment(folder, replicated=replicated, earlier=earlier)
    with contextlib.closing(deployment):
        yield deployment
