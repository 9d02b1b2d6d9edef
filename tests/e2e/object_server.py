"""A real S3-compatible server, whose buckets are folders."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
KEY, SECRET, REGION = "svddtune-tests", "not-a-secret-at-all", "eu-central-1"


def program() -> str:
    """Path of versitygw; skips the test where there is none."""
    found = shutil.which("versitygw", path=ROOT / ".tools") or shutil.which("versitygw")
    if found is None:
        pytest.skip("versitygw is not installed; `make versitygw` installs it with Go")
    return found


@contextmanager
def object_server(folder: Path, bucket: str) -> Iterator[dict[str, str]]:
    """Run the server with one bucket, ``folder/buckets/bucket``; yield a client's variables."""
    command = program()
    (folder / "buckets" / bucket).mkdir(parents=True)
    # What the server knows of objects is beside them: not every file system has attributes.
    (folder / "attributes").mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = ["--quiet", "--access", KEY, "--secret", SECRET, "--region", REGION]
    arguments += ["--port", f"127.0.0.1:{port}", "posix", "--sidecar", str(folder / "attributes")]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [command, *arguments, str(folder / "buckets")], stdout=log, stderr=log
        )

    def answers() -> bool:
        assert server.poll() is None, (folder / "log").read_text()
        with socket.socket() as attempt:
            return attempt.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(answers)
        yield {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
        }
    finally:
        server.terminate()
        server.wait(timeout=30)
