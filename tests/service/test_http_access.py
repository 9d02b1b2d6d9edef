"""Who may call over HTTP, what tells its health, and how it ends."""

import json
import os
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import trustme
from tests.e2e.processes import Process, service
from tests.service.harness import CALL_S, Harness, harness_at
from tests.waiting import wait_until

from svddtune.process.settings import SettingsError, read_settings
from svddtune.service.settings import LOOPBACK_NAMES, Settings
from svddtune.stack import EmbeddedServer

pytestmark = pytest.mark.integration

HTTP = ("127.0.0.1:0", "--http-listen", "127.0.0.1:0")
PAGE = "https://page.example"


def reason(response: httpx.Response) -> str:
    return str(response.json()["error"]["details"][0]["reason"])


def test_page_of_another_origin_changes_nothing(harness: Harness, web: httpx.Client) -> None:
    name = harness.session().name
    # A browser sends such a request without asking the service first.
    refused = web.post(f"/v1/{name}:cancel", headers={"Origin": PAGE})
    assert (refused.status_code, reason(refused)) == (403, "ORIGIN_REFUSED")
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    assert "Access-Control-Allow-Origin" not in web.options("/v1/sessions", headers=asked).headers
    assert "Access-Control-Allow-Origin" not in web.get("/v1/sessions", headers=asked).headers
    assert web.get(f"/v1/{name}").json()["session"]["state"] == "SESSION_STATE_LABELING"


def test_page_of_the_service_itself_may_call(harness: Harness, web: httpx.Client) -> None:
    name = harness.session().name
    origin = {"Origin": str(web.base_url).rstrip("/")}
    assert web.post(f"/v1/{name}:cancel", headers=origin).status_code == 200


def test_host_name_that_leads_to_this_machine_is_refused(web: httpx.Client) -> None:
    refused = web.get("/v1/sessions", headers={"Host": "rebound.example"})
    assert (refused.status_code, reason(refused)) == (421, "HOST_REFUSED")
    assert web.get("/v1/sessions", headers={"Host": "localhost:1"}).status_code == 200
    assert web.get("/v1/sessions", headers={"Host": "[::1]:1"}).status_code == 200


def test_pages_of_allowed_origins_may_call(redis_url: str) -> None:
    origins = ("--http-origins", f"https://other.example, {PAGE}", "--http-hosts", "Api.example")
    with (
        service(redis_url, *HTTP, *origins) as process,
        httpx.Client(base_url=process.ready["http"], headers={"Host": "api.example"}) as web,
    ):
        asked = {
            "Origin": PAGE,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        allowed = web.options("/v1/sessions", headers=asked)
        assert allowed.status_code == 200
        assert allowed.headers["Access-Control-Allow-Origin"] == PAGE
        answered = web.post("/v1/sessions", headers={"Origin": PAGE}, json={})
        assert answered.headers["Access-Control-Allow-Origin"] == PAGE
        assert answered.status_code == 400
        others = web.post("/v1/sessions", headers={"Origin": "https://evil.example"}, json={})
        assert reason(others) == "ORIGIN_REFUSED"


def test_health_follows_the_store(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path, fsync="no") as redis:
        process = service(redis.url, *HTTP, "--ready-without-workers")
        web = httpx.Client(base_url=process.ready["http"], timeout=CALL_S)
        wait_until(lambda: web.get("/readyz").json() == {"status": "SERVING"})
    wait_until(lambda: web.get("/readyz").status_code == 503)
    assert web.get("/livez").status_code == 200
    refused = web.get("/v1/sessions")
    assert (refused.status_code, reason(refused)) == (503, "STORE_UNAVAILABLE")
    assert refused.headers["Retry-After"] == "1"
    web.close()
    process.kill()


def test_streams_end_and_the_process_stops_on_sigterm(redis_url: str) -> None:
    with service(redis_url, *HTTP) as process:
        with harness_at(process.ready["address"], redis_url) as harness:
            name = harness.session().name
        with httpx.stream(
            "GET", f"{process.ready['http']}/v1/{name}:watch", timeout=CALL_S
        ) as watch:
            lines = watch.iter_lines()
            next(lines)
            process.stop()
            *_, last = lines
        error = json.loads(last)["error"]
        assert (error["code"], error["details"][0]["reason"]) == (503, "DRAINING")


@pytest.mark.parametrize(
    ("module", "option"),
    [
        ("svddtune.service", "--http-listen"),
        pytest.param("svddtune.service", "--metrics-listen", marks=pytest.mark.slow),
        pytest.param("svddtune.worker", "--metrics-listen", marks=pytest.mark.slow),
    ],
)
def test_taken_port_is_told(module: str, option: str, redis_url: str) -> None:
    listen = ("--listen", "127.0.0.1:0") if module == "svddtune.service" else ()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-m", module, "--redis", redis_url, *listen, option, taken],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    told = f"ADDRESS_UNUSABLE: Cannot listen on {taken}: is another server using it?"
    assert done.stderr.splitlines()[-1] == told


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith("SVDDTUNE_")]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("no_settings")
def _issuer(url: str) -> tuple[str, ...]:
    """Arguments that let people sign in at an issuer."""
    trusted = ("--jwt-issuer", url, "--jwt-audience", "svddtune", "--jwt-jwks", "keys.json")
    return (*trusted, "--jwt-client-id", "console")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--http-listen", "50080"), "HOST:PORT"),
        (("--http-listen", "0.0.0.0:50080"), "0.0.0.0:50080 is not a loopback address"),
        (("--http-origins", "page.example"), "page.example is no origin"),
        (("--http-origins", "https://page.example/path"), "is no origin"),
        (("--jwt-client-id", "console"), "needs a --jwt-issuer"),
        (_issuer("http://login.example"), "needs a --jwt-issuer that is an https:// URL"),
        (_issuer("https://login.example; script-src *"), "needs a --jwt-issuer"),
    ],
)
def test_wrong_setting_is_refused(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        read_settings(Settings, arguments, program="service")


@pytest.mark.usefixtures("no_settings")
def test_loopback_address_answers_to_names_of_the_machine_alone() -> None:
    here = read_settings(Settings, ["--http-listen", "127.0.0.1:0"], program="service")
    assert here.allowed_hosts == LOOPBACK_NAMES
    open_to_all = read_settings(
        Settings, ["--http-listen", "0.0.0.0:0", "--insecure"], program="service"
    )
    assert open_to_all.allowed_hosts == ()


@pytest.fixture
def certificates(tmp_path: Path) -> tuple[trustme.CA, tuple[str, ...]]:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(cert)
    issued.private_key_pem.write_to_path(key)
    return authority, ("--tls-cert", str(cert), "--tls-key", str(key))


def test_http_has_the_certificate_of_grpc(
    redis_url: str, certificates: tuple[trustme.CA, tuple[str, ...]]
) -> None:
    authority, options = certificates
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with Process(
        "svddtune.service",
        *("--redis", redis_url, "--listen", "0.0.0.0:0", "--http-listen", "0.0.0.0:0"),
        *("--insecure", *options),
    ) as process:
        assert process.ready["http"].startswith("https://0.0.0.0:")
        url = process.ready["http"].replace("0.0.0.0", "localhost")
        assert httpx.get(f"{url}/v1/sessions", verify=trusting).json()["sessions"] == []
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/v1/sessions")
