"""Sentinels name the master: service and worker follow it through a failover amid labelling."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clusters import Node, data_options, free_ports
from tests.e2e.processes import service, worker
from tests.service.harness import harness_at
from tests.service.test_failover import SERVING, assert_served, wait_for_health
from tests.service.test_replication import durability_of
from tests.waiting import wait_until

from svddtune.state.address import parse
from svddtune.state.connect import Redis, connect

pytestmark = pytest.mark.integration


@contextmanager
def watched(folder: Path) -> Iterator[tuple[str, Node, Node]]:
    """A master with a replica, three Sentinels that watch it, and the URL that names them."""
    first, second, *ports = free_ports(5)
    with contextlib.ExitStack() as stack:

        def start(name: str, port: int, *options: str) -> Node:
            node = Node(folder / name, port, *options)
            stack.callback(node.kill)
            return node

        master = start("master", first, *data_options())
        replica = start("replica", second, "--replicaof", "127.0.0.1", str(first), *data_options())
        with replica.client() as client:
            wait_until(lambda: client.info("replication")["master_link_status"] == "up")
        for place, port in enumerate(ports):
            settings = folder / f"sentinel-{place}.conf"
            settings.write_text(
                f"sentinel monitor labels 127.0.0.1 {first} 2\n"
                "sentinel down-after-milliseconds labels 1000\n"
                "sentinel failover-timeout labels 5000\n"
            )
            start(f"sentinel-{place}", port, str(settings), "--sentinel")
        for port in ports:
            with connect(f"redis://127.0.0.1:{port}") as client:
                wait_until(lambda: _knows_all(client))
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        yield f"redis+sentinel://{hosts}/labels/0", master, replica


def _knows_all(client: Redis) -> bool:
    """Whether a Sentinel knows the replica and the two other Sentinels."""
    known = client.sentinel_master("labels")
    return (known["num-slaves"], known["num-other-sentinels"]) == (1, 2)


@pytest.mark.slow
@pytest.mark.thorough
def test_labelling_goes_on_after_sentinels_made_the_replica_the_master(tmp_path: Path) -> None:
    with (
        watched(tmp_path) as (url, master, replica),
        service(url, "127.0.0.1:0", "--min-replicas", "1") as process,
        worker(url),
        harness_at(process.ready["address"], url) as harness,
    ):
        assert durability_of(process).survives_failover
        name = harness.create().name
        for row in range(3):
            harness.label(name, str(row))
        master.kill()
        with replica.client() as client:
            wait_until(lambda: client.info("replication")["role"] == "master")
        # The old master comes back and is made the replica: answers wait for it.
        with Node(master.folder, master.port, *data_options()) as again, again.client() as client:
            wait_until(lambda: client.info("replication")["role"] == "slave")
            wait_for_health(process, SERVING)
            assert harness.get(name).counts.total == 3
            wait_until(lambda: durability_of(process).replica_count == 1)
            harness.label(name, "3")
            assert harness.get(name).counts.total == 4
            assert_served(harness, harness.upload().name)


def test_url_tells_sentinels_master_and_credentials() -> None:
    address = parse(
        "rediss+sentinel://ann:secret@one:1,[::1],two/labels/2?sentinel_password=s&ssl_ca_certs=ca"
    )
    assert address.nodes == (("one", 1), ("::1", 26379), ("two", 26379))
    assert (address.name, address.of_sentinels) == ("labels", {"password": "s"})
    assert address.at(("::1", 5)) == "rediss://ann:secret@[::1]:5/2?ssl_ca_certs=ca"


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://one:1",
        "redis+sentinel://one:x/labels",
        "redis+cluster://",
        "redis+cluster://one:1/3",
        "redis+cluster://one:1,,two:2",
    ],
)
def test_url_that_names_no_servers_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"HOST:PORT|databases"):
        parse(url)
