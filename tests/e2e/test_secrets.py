"""No secret is in what service and worker write, count or trace, whatever goes wrong."""

import base64
import contextlib
import json
import re
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jwt
import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric import ec
from tests.e2e.observed import label
from tests.e2e.processes import Process
from tests.e2e.test_redis_over_tls import PASSWORD, Store, secured_store
from tests.e2e.test_traces import Collector
from tests.waiting import wait_until

from svddtune.client import SvddtuneError, TuningClient
from svddtune.process import tokens

pytestmark = [pytest.mark.integration, pytest.mark.e2e, pytest.mark.slow]

ISSUER, AUDIENCE = "https://issuer.example", "svddtune"
KEY, OTHER_KEY = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))


def web_token(key: ec.EllipticCurvePrivateKey = KEY, **changes: Any) -> str:
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": int(time.time()) + 600,
        "sub": "ann",
        "svddtune_project": "north",
        "svddtune_role": "admin",
    }
    return jwt.encode(claims | changes, key, "ES256", headers={"kid": "first"})


@dataclass
class Traces:
    """All that two processes left behind, by where, and the secrets that they had to do with."""

    left: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    session: str = ""

    def wrong(self, kind: str, text: str) -> str:
        """Note what no provider takes as a secret; returns it."""
        self.secrets[kind] = text
        return text


def parts_of(secret: str) -> Iterator[str]:
    """A secret in the forms that could be written; of a long one, each line and each part."""
    for line in (secret, *secret.splitlines(), *re.split(r"[._\s]", secret)):
        # (Shorter ones are in any text: the frame of a key, the name of an algorithm.)
        if len(line) >= 16 and "PRIVATE KEY" not in line:
            yield line


def metrics_of(process: Process, trusting: ssl.SSLContext) -> str:
    host, _, port = process.ready["metrics"].rpartition(":")
    for scheme, name in (("https", "localhost"), ("http", host)):
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{scheme}://{name}:{port}/metrics", verify=trusting).text
    raise AssertionError("there are no metrics")


def by_grpc(address: str, authority: Path, token: str, session: str) -> str:
    """What a caller is told who is refused."""
    with (
        TuningClient(address, tls_ca=authority, token=token, timeout_s=10) as client,
        pytest.raises(SvddtuneError) as refused,
    ):
        client.get_session(session)
    return str(refused.value)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """A session with a Redis behind TLS and a password, with callers of three kinds, and faults."""
    folder = tmp_path_factory.mktemp("secrets")
    found = Traces()
    authority = trustme.CA()
    server = authority.issue_cert("localhost")
    authority.cert_pem.write_to_path(folder / "ca")
    server.cert_chain_pems[0].write_to_path(folder / "cert")
    server.private_key_pem.write_to_path(folder / "key")
    found.secrets["key of the service"] = server.private_key_pem.bytes().decode()
    found.secrets["issuer's key"] = json.dumps(jwt.algorithms.ECAlgorithm.to_jwk(KEY))
    jwk = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key())) | {"kid": "first"}
    (folder / "jwks").write_text(json.dumps({"keys": [jwk]}))
    token, text = tokens.create(folder / "tokens", name="tom", project="north", role="tuner")
    found.secrets |= {"token": text, "hash of the token": token.sha256}
    found.secrets["web token"] = web_token()
    with (
        secured_store(folder, tmp_path_factory.mktemp("redis")) as store,
        Collector() as collector,
    ):
        found.secrets["password"] = PASSWORD
        found.secrets["quoted password"] = quote(PASSWORD, safe="")
        found.secrets["key of the client of Redis"] = (folder / "client.pem").read_text()
        _run(found, folder, store, collector)
        collector.shutdown()
        found.left["traces"] = collector.received.decode("latin-1")
    for process in ("service", "worker"):
        found.left[f"log of the {process}"] = (folder / f"{process}.log").read_text()
    return found


def _run(found: Traces, folder: Path, store: Store, collector: Collector) -> None:
    shared = (
        *("--redis", store.url(), "--log-level", "debug"),
        *("--metrics-listen", "127.0.0.1:0", "--otlp-endpoint", collector.url),
    )
    further = (
        *(
            "--listen",
            "0.0.0.0:0",
            "--http-listen",
            "0.0.0.0:0",
            "--tokens",
            str(folder / "tokens"),
        ),
        *("--tls-cert", str(folder / "cert"), "--tls-key", str(folder / "key")),
        *("--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE, "--jwt-jwks", str(folder / "jwks")),
    )
    logs = {name: folder / f"{name}.log" for name in ("service", "worker")}
    with (
        Process("svddtune.service", *shared, *further, log=logs["service"]) as service,
        Process("svddtune.worker", *shared, log=logs["worker"]) as worker,
    ):
        address = f"localhost:{service.ready['address'].rpartition(':')[2]}"
        url = service.ready["http"].replace("0.0.0.0", "localhost")
        ca = folder / "ca"
        with TuningClient(address, tls_ca=ca, token=found.secrets["web token"]) as client:
            found.session = label(client)
        with TuningClient(address, tls_ca=ca, token=found.secrets["token"]) as client:
            assert client.get_session(found.session).name == found.session
        trusting = ssl.create_default_context(cafile=ca)
        with httpx.Client(base_url=url, verify=trusting, timeout=30) as web:
            path = f"/v1/{found.session}"
            for kind in ("token", "web token"):
                known = {"authorization": f"Bearer {found.secrets[kind]}"}
                assert web.get(path, headers=known).status_code == 200
                events = known | {"accept": "text/event-stream"}
                with web.stream("GET", f"{path}:watch", headers=events) as watch:
                    assert next(watch.iter_lines())
            told = [_refused(web, path, known, found)]
            told += [
                by_grpc(address, ca, one, found.session)
                for kind, one in found.secrets.items()
                if kind.startswith("wrong")
            ]
            found.left["metrics of the service"] = metrics_of(service, trusting)
            found.left["metrics of the worker"] = metrics_of(worker, trusting)
            # Redis goes away.
            store.forwarder.close()
            gone = web.get(path, headers=known)
            assert gone.status_code == 503
            told.append(gone.text)
        found.left["what callers are told"] = "\n".join(told)
        for log in logs.values():
            wait_until(lambda log=log: "127.0.0.1" in log.read_text())  # type: ignore[misc]
        found.left["what processes print"] = json.dumps([service.ready, worker.ready])


def _refused(web: httpx.Client, path: str, known: dict[str, str], found: Traces) -> str:
    """Call with credentials that prove nobody, and in places where none belong."""
    token = found.secrets["token"]
    wrong = {
        "wrong token": f"{token[:-8]}{token[-8:].swapcase()[::-1]}",
        "unknown token": "svddtune_0123456789ab_this-is-nobodys-token",
        "wrong web token": web_token(OTHER_KEY),
        "wrong web token, expired": web_token(exp=1_000_000_000),
        "wrong web token, for others": web_token(aud="another-audience"),
        "wrong web token, broken": f"{web_token()[:-30]}.{'A' * 30}!",
        "wrong token of no kind": "a-password-that-is-no-token-at-all",
    }
    told = []
    for kind, text in wrong.items():
        headers = {"authorization": f"Bearer {found.wrong(kind, text)}"}
        told.append(web.get(path, headers=headers))
    for kind, header in (
        ("basic", f"Basic {base64.b64encode(b'ann:a-password-of-a-person').decode()}"),
        ("no scheme", "an-api-key-without-any-scheme"),
    ):
        found.wrong(kind, header.rpartition(" ")[2])
        told.append(web.get(path, headers={"authorization": header}))
    assert [one.status_code for one in told] == [401] * len(told)
    # In the query and in the body, where none belongs, of a caller who is known.
    misplaced = [
        web.get(path, params={"access_token": token}, headers=known),
        web.post(f"{path}:cancel", json={"token": token}, headers=known),
    ]
    assert [one.status_code for one in misplaced] == [400, 400]
    return "\n".join(one.text for one in told)


def test_nothing_that_a_process_leaves_has_a_secret(traces: Traces) -> None:
    leaks = [
        (where, kind, part)
        for where, text in traces.left.items()
        for kind, secret in traces.secrets.items()
        for part in parts_of(secret)
        if part in text
    ]
    assert leaks == []


def test_search_finds_what_is_there(traces: Traces) -> None:
    # (Else a search of nothing finds nothing.)
    session_id = traces.session.partition("/")[2]
    for where in ("traces", "log of the service", "log of the worker", "what callers are told"):
        assert session_id in traces.left[where] or where == "what callers are told"
    for where, text in {
        "log of the service": "caller refused",
        "log of the worker": '"begun"',
        "metrics of the service": "svddtune_",
        "metrics of the worker": "svddtune_",
        "what callers are told": "CREDENTIALS_INVALID",
        "what processes print": "pid",
    }.items():
        assert text in traces.left[where]
    lines = [json.loads(one) for one in traces.left["log of the service"].splitlines()]
    assert {one["level"] for one in lines} >= {"debug", "info", "warning"}
    assert len([*parts_of(traces.secrets["key of the service"])]) > 3
