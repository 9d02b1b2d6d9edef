"""The images are built, and what the Compose file makes of them serves a session.

The base image and Valkey's cannot be downloaded everywhere, so both are made here.
"""

import json
import os
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
import trustme
from tests.deploy.files import compose
from tests.deploy.images import BASE, Container, Images, Running, missing
from tests.waiting import wait_until

from svddtune.client import TuningClient
from svddtune.process.tokens import create
from svddtune.stack.embedded import find_binary
from svddtune.state.connect import connect

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(bool(missing()), reason=f"images need {', '.join(missing())}"),
    pytest.mark.xdist_group("images"),
]

SERVICES = compose()["services"]
PASSWORD = "abc123"
# What an image may have more than its base, in MiB.
MOST_MIB = {"service": 170, "worker": 260}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    folder = tmp_path_factory.mktemp("images")
    # Users of containers pass through.
    for one in (folder, *folder.parents[:2]):
        one.chmod(0o755)
    made = Images(folder)
    made.make_base()
    made.build("service", "svddtune-service")
    made.build("worker", "svddtune-worker")
    made.make_valkey(find_binary(), SERVICES["valkey"]["image"])
    yield made
    made.do("rmi", "--all", "--force")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Deployment:
    """The processes of the Compose file, in containers on this machine's network."""

    def __init__(self, images: Images, folder: Path, stack: ExitStack) -> None:
        self._images, self._folder, self._stack = images, folder, stack
        self.port = free_port()
        self.pids: list[tuple[Running, int]] = []
        secrets = self._subfolder("secrets")
        authority = trustme.CA()
        authority.cert_pem.write_to_path(folder / "ca.pem")
        certificate = authority.issue_cert("127.0.0.1")
        certificate.cert_chain_pems[0].write_to_path(secrets / "tls_cert")
        certificate.private_key_pem.write_to_path(secrets / "tls_key")
        _, token = create(secrets / "tokens", name="rule", project="default", role="tuner")
        (secrets / "tokens").chmod(0o644)
        self.credentials = grpc.composite_channel_credentials(
            grpc.ssl_channel_credentials((folder / "ca.pem").read_bytes()),
            grpc.access_token_call_credentials(token),
        )
        self._volumes = {secrets: "/run/secrets"}
        for one in ("/var/lib/svddtune", "/var/cache/svddtune", "/data"):
            path = self._subfolder(one.replace("/", "_"))
            path.chmod(0o777)
            self._volumes[path] = one

    def _subfolder(self, name: str) -> Path:
        path = self._folder / name
        path.mkdir()
        return path

    def environment(self, name: str) -> dict[str, str]:
        """The settings of a process, with the addresses of this machine."""
        given = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
        here = f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"
        assert given["SVDDTUNE_REDIS"].endswith("@valkey:6379/0")
        return given | {"SVDDTUNE_REDIS": here}

    def start_valkey(self) -> str:
        """Start Valkey by its command; return its URL."""
        one = self._stack.enter_context(self._images.container(SERVICES["valkey"]["image"]))
        words = [
            word.replace("${SVDDTUNE_REDIS_PASSWORD}", PASSWORD)
            for word in SERVICES["valkey"]["command"]
        ]
        running = one.start(
            *words,
            f"--port {self.port}",
            "--bind 127.0.0.1",
            environment={},
            volumes=self._volumes,
            log=self._folder / "valkey.log",
        )
        self._stack.enter_context(running)
        while "Ready to accept connections" not in running.line():
            pass
        return f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"

    def start(self, name: str, **changes: str) -> tuple[Container, dict[str, str]]:
        """Start a process; return its container and its line, with its settings."""
        image = SERVICES[name]["image"]
        one = self._stack.enter_context(self._images.container(image))
        environment = self.environment(name) | changes
        log = self._folder / f"{name}.log"
        running = one.start(environment=environment, volumes=self._volumes, log=log)
        self._stack.enter_context(running)
        ready = json.loads(running.line())
        self.pids.append((running, ready["pid"]))
        return one, {**environment, **ready}

    def is_healthy(self, one: Container, environment: dict[str, str]) -> bool:
        """Whether a container's health check passes."""
        settings = {key: str(one) for key, one in environment.items() if key.isupper()}
        return one.is_healthy(settings, self._volumes)


def status(pid: int) -> dict[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line.partition(":")[0]: line.partition(":")[2].split() for line in lines}


def changed_since(one: Container, moment: float) -> list[str]:
    """Files of a container that its processes changed, but for the folders they may write to."""
    tops = ("etc", "home", "opt", "root", "srv", "usr", "var")
    paths = (path for top in tops for path in (one.root / top).rglob("*") if path.is_file())
    return [str(path) for path in paths if path.lstat().st_mtime > moment]


@pytest.mark.parametrize("target", MOST_MIB)
def test_image_has_little_more_than_its_base(images: Images, target: str) -> None:
    more = images.size_mib(f"svddtune-{target}") - images.size_mib(BASE)
    print(f"{target}: {more:.0f} MiB over its base")
    assert more < MOST_MIB[target]


@pytest.mark.parametrize("target", MOST_MIB)
def test_image_has_neither_pip_nor_tests_nor_types(images: Images, target: str) -> None:
    with images.container(f"svddtune-{target}") as one:
        packages = next((one.root / "opt/svddtune/lib").glob("python3*/site-packages"))
        names = {path.name for path in packages.iterdir()}
        assert not names & {"pip", "setuptools", "wheel", "pytest", "typer"}
        assert ("grpc" in names) is (target == "service")
        assert ("sklearn" in names) is (target == "worker")
        assert [*packages.rglob("tests"), *packages.rglob("*.pyi")] == []


def test_processes_of_the_compose_file_serve_a_session_from_their_images(
    images: Images, tmp_path: Path
) -> None:
    for one in (tmp_path, *tmp_path.parents[:2]):
        one.chmod(0o755)
    with ExitStack() as stack:
        deployment = Deployment(images, tmp_path, stack)
        url = deployment.start_valkey()
        begun = time.time()
        here = {
            "SVDDTUNE_LISTEN": "127.0.0.1:0",
            "SVDDTUNE_HTTP_LISTEN": f"127.0.0.1:{free_port()}",
        }
        front, service = deployment.start("service", **here)
        back, worker = deployment.start("worker")
        urgent, _ = deployment.start("worker-urgent")
        assert deployment.is_healthy(front, service)
        wait_until(lambda: deployment.is_healthy(back, worker), timeout_s=30)
        for _, pid in deployment.pids:
            assert set(status(pid)["Uid"]) == {"10001"}
            assert int(status(pid)["CapEff"][0], 16) == 0

        rng = random.Random(1)
        rows = [[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(150)] + [[7.0, 7.0], [8.0, 6.0]]
        with TuningClient(service["address"], credentials=deployment.credentials) as client:
            session = client.create_session(client.upload_dataset(rows), budget=12)
            with client.tuning(session, labeler="rule") as tuning:
                for query in tuning.queries():
                    tuning.answer(query, "outlier" if max(query.features) > 4 else "inlier")
            client.wait_until_completed(session)
            assert client.get_session(session).counts.total == 12

        with connect(url) as redis:
            expected = {
                "appendonly": "yes",
                "appendfsync": "always",
                "maxmemory-policy": "noeviction",
            }
            assert redis.config_get(*expected) == expected
        assert [name for one in (front, back, urgent) for name in changed_since(one, begun)] == []

        for running, pid in reversed(deployment.pids):
            running.stop(pid)
        assert not deployment.is_healthy(front, service)
        alive = back.root / "tmp" / "svddtune-alive"
        os.utime(alive, (time.time() - 16,) * 2)
        assert not deployment.is_healthy(back, worker)
