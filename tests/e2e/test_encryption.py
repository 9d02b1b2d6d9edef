"""A service with TLS, and the addresses that require it."""

import subprocess
import sys
from pathlib import Path

import pytest
import trustme
from tests.e2e.processes import Process

from svddtune.client import SvddtuneError, TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of a certificate authority and of a server certificate for localhost."""
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    server = authority.issue_cert("localhost")
    files = {name: folder / f"{name}.pem" for name in ("ca", "cert", "key")}
    authority.cert_pem.write_to_path(files["ca"])
    server.private_key_pem.write_to_path(files["key"])
    server.cert_chain_pems[0].write_to_path(files["cert"])
    return files


def test_client_and_command_line_work_over_tls(
    redis_url: str, certificates: dict[str, Path]
) -> None:
    with Process(
        "svddtune.service",
        *("--redis", redis_url, "--listen", "0.0.0.0:0", "--insecure"),
        *("--tls-cert", str(certificates["cert"]), "--tls-key", str(certificates["key"])),
    ) as front:
        address = f"localhost:{front.ready['address'].rpartition(':')[2]}"
        with TuningClient(address, tls_ca=certificates["ca"]) as client:
            assert list(client.list_sessions()) == []
        listed = subprocess.run(
            [
                *(sys.executable, "-m", "svddtune.client", "sessions", "--json"),
                *("--server", address, "--tls-ca", str(certificates["ca"])),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        assert listed.stdout.split() == ["{", '"sessions":', "[]", "}"]
        with (
            TuningClient(address, timeout_s=2) as plain,
            pytest.raises(SvddtuneError) as refused,
        ):
            list(plain.list_sessions())
        assert refused.value.reason in ("UNAVAILABLE", "DEADLINE_EXCEEDED")


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.1:50051"])
def test_address_beyond_loopback_needs_tls_or_insecure_flag(redis_url: str, listen: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "svddtune.service", "--redis", redis_url, "--listen", listen],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "--insecure" in done.stderr
    assert "Traceback" not in done.stderr
