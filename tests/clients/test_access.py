"""Each client shows its credentials to a real service, and ends where they are refused."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
from conformance.program import Client
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from tests.clients.languages import OTHERS, ROOT, Language
from tests.conformance.test_python_client import PYTHON
from tests.e2e.processes import Process, service, worker

from svddtune.client import TuningClient
from svddtune.process import tokens
from svddtune.stack import EmbeddedServer

# The first test of a client builds it.
pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(600)]

BUDGET = 6
# (score, seconds that the program takes to decide)
ROWS = [[i / 40, 0.3] for i in range(40)]
Events = list[dict[str, Any]]


@dataclass(frozen=True)
class Place:
    """Services that ask who calls, and what they know and trust."""

    folder: Path
    # Take tokens: with TLS, and without. The last one takes certificates.
    encrypted: Process
    plain: Process
    mutual: Process

    def token(self, role: str, name: str = "ann") -> tuple[str, str]:
        """Make a token; return its id and text."""
        made, text = tokens.create(self.folder / "tokens", name=name, project="north", role=role)
        return made.id, text

    def environment(self, **given: str) -> dict[str, str]:
        """What a program finds to connect with: names of files of the folder."""
        clean = {name: value for name, value in os.environ.items() if "SVDDTUNE" not in name}
        return clean | {
            f"SVDDTUNE_{name.upper()}": str(self.folder / file) for name, file in given.items()
        }


def address_of(process: Process) -> str:
    return f"127.0.0.1:{process.ready['address'].rpartition(':')[2]}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("access")
    authority, other = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca")
    other.cert_pem.write_to_path(folder / "other")
    server = authority.issue_cert("127.0.0.1", "localhost")
    # (Java reads no certificate without an alternative name.)
    ann = authority.issue_cert(
        "ann@north.example",
        common_name="ann",
        organization_name="north",
        organization_unit_name="labeler",
    )
    for name, leaf in (("server", server), ("ann", ann)):
        leaf.cert_chain_pems[0].write_to_path(folder / f"{name}.cert")
        key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / f"{name}.key").write_bytes(text)
    tokens.create(folder / "tokens", name="first", project="north", role="viewer")
    known = ("--tokens", str(folder / "tokens"))
    tls = ("--tls-cert", str(folder / "server.cert"), "--tls-key", str(folder / "server.key"))
    trusted = ("--tls-client-ca", str(folder / "ca"))
    with ExitStack() as stack:
        redis = stack.enter_context(EmbeddedServer(folder / "redis", fsync="no"))
        stack.enter_context(worker(redis.url))
        services = [
            stack.enter_context(service(redis.url, listen, *known, *further))
            for listen, further in (
                ("127.0.0.1:0", tls),
                ("0.0.0.0:0", ("--insecure",)),
                ("127.0.0.1:0", (*tls, *trusted)),
            )
        ]
        yield Place(folder, *services)


@pytest.fixture(params=["python", *(one.name for one in OTHERS)])
def program(request: pytest.FixtureRequest) -> Client:
    """The program of a client for the conformance suite."""
    if request.param == "python":
        return PYTHON
    language: Language = next(one for one in OTHERS if one.name == request.param)
    language.build_all()
    return Client(language.conformance, ROOT / language.folder, language.abilities)


@contextmanager
def admin_of(place: Place) -> Iterator[TuningClient]:
    _, token = place.token("admin", "admin")
    with TuningClient(
        address_of(place.encrypted), tls_ca=place.folder / "ca", token=token
    ) as client:
        yield client


@contextmanager
def labeling(
    program: Client, address: str, session: str, environment: dict[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [*program.argv, "label", address, session, "ann", "1"],
        cwd=program.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said_by(process: "subprocess.Popen[str]") -> tuple[Events, str]:
    """What a program prints to its end: its events, and all of its text."""
    out, errors = process.communicate(timeout=90)
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return events, f"{out}\n{errors}"


def refusal(program: Client, code: str, reason: str) -> dict[str, str]:
    """The event of an error; Python's has no code."""
    told = {} if program is PYTHON else {"code": code}
    return {"event": "error", **told, "reason": reason}


def test_labeler_shows_its_token_and_goes_on_with_the_one_that_replaces_it(
    place: Place, program: Client
) -> None:
    first, text = place.token("labeler")
    file = place.folder / "token"
    file.write_text(text + "\n")
    environment = place.environment(token_file="token", tls_ca="ca")
    with admin_of(place) as admin:
        session = admin.create_session(admin.upload_dataset(ROWS), budget=BUDGET)
        address = address_of(place.encrypted)
        with labeling(program, address, session.name, environment) as process:
            assert process.stdout is not None
            event = json.loads(process.stdout.readline())
            assert event["event"] == "acked", event
            file.write_text(place.token("labeler")[1])
            tokens.revoke(place.folder / "tokens", first)
            events, text = said_by(process)
        assert events[-1] == {"event": "finished", "reason": "FINISH_REASON_BUDGET_SPENT"}, text
        assert [one.labeler for one in admin.labels(session)] == ["ann"] * BUDGET


@pytest.mark.parametrize(
    ("role", "code", "reason"),
    [
        ("viewer", "PERMISSION_DENIED", "ROLE_TOO_LOW"),
        ("", "UNAUTHENTICATED", "CREDENTIALS_INVALID"),
    ],
)
def test_labeler_ends_at_once_with_the_reason_of_the_service(
    place: Place, program: Client, role: str, code: str, reason: str
) -> None:
    text = place.token(role)[1] if role else "svddtune_000000000000_none"
    (place.folder / "refused").write_text(text)
    environment = place.environment(token_file="refused", tls_ca="ca")
    name = "sessions/p00-00000000000000000000"
    with labeling(program, address_of(place.encrypted), name, environment) as process:
        events, text = said_by(process)
    assert events == [refusal(program, code, reason)], text


def test_token_is_not_sent_in_the_clear_beyond_loopback(place: Place, program: Client) -> None:
    (place.folder / "clear").write_text(place.token("labeler")[1])
    port = place.plain.ready["address"].rpartition(":")[2]
    name = "sessions/p00-00000000000000000000"
    environment = place.environment(token_file="clear")
    # (Linux connects to this address, which is none of loopback, on the same machine.)
    with labeling(program, f"0.0.0.0:{port}", name, environment) as process:
        _, text = said_by(process)
    assert "TOKEN_NOT_ENCRYPTED" in text
    with labeling(program, f"127.0.0.1:{port}", name, environment) as process:
        events, text = said_by(process)
    assert events == [refusal(program, "NOT_FOUND", "SESSION_NOT_FOUND")], text


def test_service_with_a_certificate_of_another_authority_is_not_trusted(
    place: Place, program: Client
) -> None:
    (place.folder / "kept").write_text(place.token("labeler")[1])
    environment = place.environment(token_file="kept", tls_ca="other")
    name = "sessions/p00-00000000000000000000"
    with labeling(program, address_of(place.encrypted), name, environment) as process:
        events, text = said_by(process)
    (event,) = events
    assert event["event"] == "error", text
    assert event["reason"] in ("", "UNAVAILABLE"), text


def test_client_certificate_tells_who_labels(place: Place, program: Client) -> None:
    environment = place.environment(tls_ca="ca", client_cert="ann.cert", client_key="ann.key")
    with admin_of(place) as admin:
        session = admin.create_session(admin.upload_dataset(ROWS), budget=BUDGET)
        address = address_of(place.mutual)
        with labeling(program, address, session.name, environment) as process:
            events, text = said_by(process)
        assert events[-1]["event"] == "finished", text
        assert [one.labeler for one in admin.labels(session)] == ["ann"] * BUDGET
    wrong = place.environment(tls_ca="ca", client_cert="ann.cert", client_key="server.key")
    with labeling(program, address, session.name, wrong) as process:
        _, text = said_by(process)
    assert "INVALID_CERTIFICATE" in text
