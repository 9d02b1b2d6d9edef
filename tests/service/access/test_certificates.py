"""Client certificates tell who calls, by gRPC and by HTTP."""

import datetime
import json
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import grpc
import httpx
import pytest
import trustme
from tests.e2e.processes import Process, service
from tests.service.access.test_lasting import REASON, Quiet, grpc_end
from tests.service.access.world import with_token
from tests.service.harness import CALL_S, refusal
from tests.service.support import reason_of

from svddtune.client import PermissionDenied, TuningClient, Unavailable
from svddtune.client.cli.app import run
from svddtune.process import tokens
from svddtune.v1 import (
    scoring_pb2_grpc,
    server_pb2,
    server_pb2_grpc,
    tuning_pb2,
    tuning_pb2_grpc,
)

pytestmark = pytest.mark.integration

CA, OTHER_CA = trustme.CA(), trustme.CA()


def client_cert(authority: trustme.CA = CA, **subject: str) -> trustme.LeafCert:
    names = {
        "common_name": "ann",
        "organization_name": "north",
        "organization_unit_name": "labeler",
    } | subject
    return authority.issue_cert(**names)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def secured(
    tmp_path_factory: pytest.TempPathFactory, redis_server: object
) -> Iterator[tuple[Process, str]]:
    """A service that takes certificates and tokens, and a token."""
    folder = tmp_path_factory.mktemp("certificates")
    server = CA.issue_cert("localhost")
    files = [folder / name for name in ("ca", "cert", "key")]
    CA.cert_pem.write_to_path(files[0])
    server.cert_chain_pems[0].write_to_path(files[1])
    server.private_key_pem.write_to_path(files[2])
    _, token = tokens.create(folder / "tokens", name="tom", project="south", role="tuner")
    options = ("--tls-client-ca", "--tls-cert", "--tls-key")
    given = [one for pair in zip(options, map(str, files), strict=True) for one in pair]
    url = redis_server.url  # type: ignore[attr-defined]
    # (Without --insecure: there is all that an address beyond loopback needs.)
    further = ("--tokens", str(folder / "tokens"), "--http-listen", "0.0.0.0:0", *given)
    with service(url, "0.0.0.0:0", *further) as process:
        yield process, token


def channel_of(process: Process, cert: trustme.LeafCert | None) -> grpc.Channel:
    port = process.ready["address"].rpartition(":")[2]
    key, chain = (
        (cert.private_key_pem.bytes(), cert.cert_chain_pems[0].bytes()) if cert else (None, None)
    )
    credentials = grpc.ssl_channel_credentials(CA.cert_pem.bytes(), key, chain)
    return grpc.secure_channel(f"localhost:{port}", credentials)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files of ann's certificate and its key, of her authority and of another one."""
    folder = tmp_path_factory.mktemp("ann")
    ann = client_cert()
    contents = {
        "ca": CA.cert_pem,
        "other": OTHER_CA.cert_pem,
        "cert": ann.cert_chain_pems[0],
        "key": ann.private_key_pem,
    }
    for name, content in contents.items():
        content.write_to_path(folder / name)
    return {name: str(folder / name) for name in contents}


def caller_at(channel: grpc.Channel) -> server_pb2.ServerCaller:
    stub = server_pb2_grpc.ServerServiceStub(channel)
    return stub.GetServerInfo(server_pb2.GetServerInfoRequest(), timeout=10).caller


def test_certificate_names_caller_project_and_role(secured: tuple[Process, str]) -> None:
    process, token = secured
    with channel_of(process, client_cert()) as channel:
        expected = server_pb2.ServerCaller(
            name="ann", project="north", role=server_pb2.CALLER_ROLE_LABELER
        )
        assert caller_at(channel) == expected
        # A token counts before the certificate of the connection.
        assert caller_at(with_token(channel, token)).name == "tom"


@pytest.mark.parametrize(
    "subject",
    [{"organization_unit_name": "king"}, {"organization_name": "No!"}, {"common_name": "a b"}],
)
def test_certificate_that_names_nobody_is_refused(
    secured: tuple[Process, str], subject: dict[str, str]
) -> None:
    with channel_of(secured[0], client_cert(CA, **subject)) as channel:
        assert reason_of(refusal(lambda: caller_at(channel))) == "CREDENTIALS_INVALID"


@pytest.mark.parametrize("cert", [None, client_cert(OTHER_CA)], ids=["none", "other authority"])
def test_connection_without_a_known_certificate_is_closed(
    secured: tuple[Process, str], cert: trustme.LeafCert | None
) -> None:
    with channel_of(secured[0], cert) as channel:
        assert refusal(lambda: caller_at(channel)).code() is grpc.StatusCode.UNAVAILABLE


def test_http_knows_certificates_and_tokens(secured: tuple[Process, str], tmp_path: Path) -> None:
    process, token = secured
    url = process.ready["http"].replace("0.0.0.0", "localhost")

    def get(path: str, cert: trustme.LeafCert | None, token: str = "") -> httpx.Response:
        context = ssl.create_default_context()
        CA.configure_trust(context)
        if cert:
            cert.configure_cert(context)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.get(f"{url}{path}", verify=context, headers=headers)

    caller = get("/v1/server", client_cert()).json()["caller"]
    assert caller == {"name": "ann", "project": "north", "role": "CALLER_ROLE_LABELER"}
    assert get("/v1/sessions", client_cert()).status_code == 200
    assert get("/v1/datasets", client_cert()).status_code == 403
    assert get("/v1/server", client_cert(), token).json()["caller"]["name"] == "tom"
    assert get("/v1/sessions", None, token).status_code == 200
    unknown = get("/v1/sessions", None)
    assert unknown.status_code == 401
    assert unknown.headers["www-authenticate"] == 'Bearer realm="svddtune"'
    assert get("/livez", None).status_code == 200
    with pytest.raises(httpx.HTTPError):
        get("/v1/server", client_cert(OTHER_CA))


def test_foreign_session_by_certificate_is_absent(secured: tuple[Process, str]) -> None:
    with channel_of(secured[0], client_cert(organization_unit_name="viewer")) as channel:
        stub = tuning_pb2_grpc.TuningServiceStub(channel)
        name = "sessions/p00-00000000000000000000"
        error = refusal(lambda: stub.GetSession(tuning_pb2.GetSessionRequest(name=name)))
        assert reason_of(error) == "SESSION_NOT_FOUND"


def test_call_ends_with_its_certificate(secured: tuple[Process, str]) -> None:
    over = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=2)
    cert = CA.issue_cert(
        common_name="ann",
        organization_name="north",
        organization_unit_name="viewer",
        not_after=over,
    )
    with channel_of(secured[0], cert) as channel:
        stub, parts = scoring_pb2_grpc.ScoringServiceStub(channel), Quiet()
        assert caller_at(channel).name == "ann"
        assert grpc_end(lambda: list(stub.ScoreStream(iter(parts), timeout=CALL_S))) == REASON
        parts.end()
        # The connection is that of before.
        assert "expired" in str(refusal(lambda: caller_at(channel)).details())


def test_python_client_shows_its_certificate(
    secured: tuple[Process, str], files: dict[str, str]
) -> None:
    process, token = secured
    address = f"localhost:{process.ready['address'].rpartition(':')[2]}"
    cert, key = files["cert"], files["key"]
    client = partial(TuningClient, client_cert=cert, client_key=key)
    with client(address, tls_ca=files["ca"], token=token) as tom:
        assert tom.server_info().caller == "tom"
        rows = [[float(i), 0.0] for i in range(12)]
        tom.create_session(tom.upload_dataset(rows), budget=3)
    with client(address, tls_ca=files["ca"]) as ann:
        assert ann.server_info().caller == "ann"
        assert list(ann.list_sessions()) == []  # (tom's is of another project)
        with pytest.raises(PermissionDenied) as refused:
            ann.upload_dataset([[0.0], [1.0]])
        assert refused.value.reason == "ROLE_TOO_LOW"
        # Her certificate has her name, so the dialogue has none; any session of hers will do.
        with ann.tuning(credit=0):
            pass
    address = address.replace("localhost", "127.0.0.1")
    with (
        client(address, tls_ca=files["other"], timeout_s=0.5) as mistaken,
        mistaken.tuning() as tuning,
        pytest.raises(Unavailable, match=r"is not trusted.* --tls-ca"),
    ):
        tuning.next_query()


def test_command_line_shows_its_certificate(
    secured: tuple[Process, str],
    files: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("SVDDTUNE_CLIENT_CERT", "SVDDTUNE_CLIENT_KEY"):
        monkeypatch.setenv(name, "")  # (The command line sets it for what it starts.)
        monkeypatch.delenv(name)
    address = f"localhost:{secured[0].ready['address'].rpartition(':')[2]}"
    command = ["sessions", "--server", address, "--tls-ca", files["ca"], "--json"]
    wrong = ["--client-cert", files["cert"], "--client-key", files["cert"]]
    assert run([*wrong, *command]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["reason"] == "INVALID_CERTIFICATE"
    assert "both must be in PEM format" in said.err
    right = ["--client-cert", files["cert"], "--client-key", files["key"]]
    assert run([*right, *command]) == 0
    assert json.loads(capsys.readouterr().out) == {"sessions": []}
