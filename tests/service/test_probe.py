"""The probe of a container's health check."""

import subprocess
import sys
from pathlib import Path

import pytest
import trustme
from tests.e2e.processes import service

pytestmark = pytest.mark.integration


def probe(**environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "svddtune.service.probe"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_probe_finds_service_alive_until_it_ends(redis_url: str) -> None:
    with service(redis_url, "127.0.0.1:0", "--http-listen", "127.0.0.1:0") as one:
        address = one.ready["http"].removeprefix("http://")
        assert probe(SVDDTUNE_HTTP_LISTEN=address).returncode == 0
        port = address.rpartition(":")[2]
        assert probe(SVDDTUNE_HTTP_LISTEN=f"0.0.0.0:{port}").returncode == 0
    ended = probe(SVDDTUNE_HTTP_LISTEN=address)
    assert ended.returncode == 1
    assert ended.stderr == f"{address}: [Errno 111] Connection refused\n"


@pytest.mark.slow
def test_probe_speaks_tls_where_service_has_a_certificate(redis_url: str, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("svddtune.example.org")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    certificate.cert_chain_pems[0].write_to_path(chain)
    certificate.private_key_pem.write_to_path(key)
    arguments = ("--http-listen", "127.0.0.1:0", "--tls-cert", str(chain), "--tls-key", str(key))
    with service(redis_url, "127.0.0.1:0", *arguments) as one:
        address = one.ready["http"].removeprefix("https://")
        assert probe(SVDDTUNE_HTTP_LISTEN=address, SVDDTUNE_TLS_CERT=str(chain)).returncode == 0
        assert probe(SVDDTUNE_HTTP_LISTEN=address).returncode == 1


@pytest.mark.parametrize("listen", ["", "localhost", "localhost:http"])
def test_probe_without_address_says_so_with_exit_code_2(listen: str) -> None:
    done = probe(SVDDTUNE_HTTP_LISTEN=listen)
    assert done.returncode == 2
    assert done.stderr.startswith("SVDDTUNE_HTTP_LISTEN is not HOST:PORT")
