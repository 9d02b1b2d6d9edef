"""Running services whose callers show JSON Web Tokens, or what an installed package knows."""

import asyncio
import base64
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from tests.e2e.processes import Process, service
from tests.service.access.test_lasting import REASON, Quiet, grpc_end
from tests.service.access.test_web_tokens import (
    AUDIENCE,
    FIRST,
    ISSUER,
    SECOND,
    Issuer,
    jwk,
    token,
)
from tests.service.access.world import with_token
from tests.service.harness import CALL_S, refusal
from tests.service.support import reason_of
from tests.waiting import wait_until

from svddtune.process.settings import read_settings
from svddtune.service.access.caller import Caller, Role
from svddtune.service.access.faults import ProviderAway
from svddtune.service.access.foreign import Foreign
from svddtune.service.access.identity import Credentials
from svddtune.service.access.providers import IdentitiesError, identities_of
from svddtune.service.access.web_tokens import _LEAST_S
from svddtune.service.settings import Settings
from svddtune.v1 import scoring_pb2_grpc, server_pb2, server_pb2_grpc

pytestmark = pytest.mark.integration

PROVIDER = """
import pathlib
from svddtune.process.settings import read_settings
from svddtune.service.access.caller import Caller, Role
from svddtune.service.access.faults import invalid

CLOSED = pathlib.Path(__file__).with_name("closed")

class Badges:
    async def caller(self, credentials):
        kind, _, name = credentials.token.partition(":")
        if kind != "badge":
            return None
        if CLOSED.exists():
            raise invalid("the building is closed")
        if name == "broken":
            raise RuntimeError("cannot read " + credentials.token)
        if name == "wordless":
            return "ann"
        return Caller("" if name == "nameless" else name, "north", Role.VIEWER)

class Nothing:
    pass
"""
ENTRIES = """
[svddtune.identity_providers]
badges = corp_badges:Badges
nothing = corp_badges:Nothing
absent = corp_absent:Badges
"""


def who(process: Process, text: str) -> server_pb2.ServerCaller:
    with grpc.insecure_channel(process.ready["address"]) as channel:
        stub = server_pb2_grpc.ServerServiceStub(with_token(channel, text))
        return stub.GetServerInfo(server_pb2.GetServerInfoRequest(), timeout=CALL_S).caller


def refused(process: Process, text: str) -> tuple[str, str]:
    """The reasons with which a token is refused over gRPC and over HTTP."""
    by_grpc = reason_of(refusal(lambda: who(process, text)))
    response = httpx.get(
        f"{process.ready['http']}/v1/sessions", headers={"authorization": f"Bearer {text}"}
    )
    assert response.status_code == {REASON: 401}.get(by_grpc, 503)
    return by_grpc, response.json()["error"]["details"][0]["reason"]


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    found = Issuer()
    yield found
    found.close()


@pytest.fixture(scope="module")
def judging(
    redis_server: Any, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Process, Path]]:
    """A service that trusts an issuer, which was away when it started, and its log."""
    log = tmp_path_factory.mktemp("judging") / "log"
    options = {
        "--jwt-issuer": ISSUER,
        "--jwt-audience": AUDIENCE,
        "--jwt-jwks": issuer.url,
        "--jwt-project-claim": "project",
        "--jwt-role-claim": "realm.roles",
        "--http-listen": "127.0.0.1:0",
    }
    given = [one for pair in options.items() for one in pair]
    issuer.away = True
    with service(redis_server.url, "127.0.0.1:0", *given, log=log) as process:
        assert refused(process, token()) == ("IDENTITY_PROVIDER_UNAVAILABLE",) * 2
        issuer.away = False
        yield process, log


def caller_in_time(process: Process, text: str) -> server_pb2.ServerCaller:
    """Who calls, as soon as the issuer has been asked again."""
    deadline = time.monotonic() + _LEAST_S + 5
    while True:
        try:
            return who(process, text)
        except grpc.RpcError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def part(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def signed_with_the_public_key() -> str:
    public = FIRST.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    head, body = part({"alg": "HS256", "typ": "JWT", "kid": "first"}), token().split(".")[1]
    hmac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    mark = base64.urlsafe_b64encode(hmac.sign(f"{head}.{body}".encode(), public))
    return f"{head}.{body}.{mark.decode().rstrip('=')}"


def altered(*, head: Any = None, body: Any = None, mark: str | None = None) -> str:
    """A good token with a part of it replaced."""
    first, second, third = token().split(".")
    return ".".join(
        (
            first if head is None else part(head),
            second if body is None else part(body),
            third if mark is None else mark,
        )
    )


CLAIMS = {"iss": ISSUER, "aud": AUDIENCE, "exp": 4_000_000_000, "sub": "eve", "project": "north"}
FORGED: dict[str, Callable[[], str]] = {
    "other audience": lambda: token(aud="other"),
    "other issuer": lambda: token(iss="https://other.example"),
    "expired": lambda: token(exp=int(time.time()) - 5),
    "not yet valid": lambda: token(nbf=int(time.time()) + 300),
    "issued in the future": lambda: token(iat=int(time.time()) + 300),
    "without end": lambda: token(exp=None),
    "without role": lambda: token(realm=None),
    "algorithm none": lambda: altered(head={"alg": "none", "kid": "first"}, mark=""),
    "algorithm None": lambda: altered(head={"alg": "nOnE", "kid": "first"}, mark=""),
    "no signature": lambda: altered(mark=""),
    "shared secret": signed_with_the_public_key,
    "own key in the header": lambda: jwt.encode(
        CLAIMS, SECOND, "ES256", headers={"kid": "first", "jwk": jwk(SECOND, "first")}
    ),
    "address of keys in the header": lambda: jwt.encode(
        CLAIMS, SECOND, "ES256", headers={"kid": "own", "jku": "http://127.0.0.1:1/keys"}
    ),
    "other key": lambda: jwt.encode(CLAIMS, SECOND, "ES256", headers={"kid": "first"}),
    "other algorithm of the key": lambda: altered(head={"alg": "PS256", "kid": "first"}),
    "claims replaced": lambda: altered(body=CLAIMS | {"realm": {"roles": ["admin"]}}),
    "key that is a path": lambda: altered(head={"alg": "RS256", "kid": "../../etc/passwd"}),
    "key that is no text": lambda: altered(head={"alg": "RS256", "kid": ["first"]}),
    "unknown demand": lambda: altered(head={"alg": "RS256", "kid": "first", "crit": ["b64"]}),
    "deep header": lambda: "".join(
        (base64.urlsafe_b64encode(b"[" * 5000).decode().rstrip("="), ".", "e30", ".", "AA")
    ),
    "no Base64": lambda: "!.!.!",
    "nothing": lambda: "..",
}


def test_token_that_is_forged_is_refused(judging: tuple[Process, Path]) -> None:
    process, log = judging
    assert caller_in_time(process, token()).name == "ann"
    found = {kind: refused(process, forge()) for kind, forge in FORGED.items()}
    assert found == dict.fromkeys(FORGED, (REASON, REASON))
    # (gRPC refuses so long a header itself.)
    with pytest.raises(grpc.RpcError):
        who(process, "e" * 20_000)
    assert "Traceback" not in log.read_text()


def test_stream_ends_with_its_web_token(judging: tuple[Process, Path]) -> None:
    process, _ = judging
    text = token(exp=int(time.time()) + 2)
    assert caller_in_time(process, text).role == server_pb2.CALLER_ROLE_TUNER
    with grpc.insecure_channel(process.ready["address"]) as channel:
        stub, parts = scoring_pb2_grpc.ScoringServiceStub(with_token(channel, text)), Quiet()
        assert grpc_end(lambda: list(stub.ScoreStream(iter(parts), timeout=CALL_S))) == REASON
        parts.end()


@pytest.mark.slow
def test_keys_change_while_the_service_runs(judging: tuple[Process, Path], issuer: Issuer) -> None:
    process, log = judging
    assert caller_in_time(process, token()).name == "ann"
    issuer.keys = [jwk(FIRST, "first"), jwk(SECOND, "second")]
    renewed = token(SECOND, "second", sub="bob")
    try:
        assert caller_in_time(process, renewed).name == "bob"
        # Both are good while the issuer has both, and while it is away.
        issuer.away = True
        assert who(process, token(sub="eve")).name == "eve"
        assert refused(process, token(kid="third")) == (REASON, REASON)
        issuer.away = False
        issuer.keys = [jwk(SECOND, "second")]
        reads = issuer.reads
        wait_until(
            lambda: refused(process, token(kid="fourth"))[0] == REASON and issuer.reads > reads
        )
        assert refused(process, token(sub="zoe")) == (REASON, REASON)
        assert who(process, renewed).name == "bob"
    finally:
        issuer.keys = [jwk(FIRST, "first")]
        issuer.away = False
    assert token() not in log.read_text()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package that has identity providers."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "corp_badges.py").write_text(PROVIDER)
    about = folder / "corp_badges-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: corp-badges\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    return folder


def test_provider_of_an_installed_package_names_callers_of_a_running_service(
    redis_server: Any, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(package))
    log = tmp_path / "log"
    options = ("--identity-provider", "badges", "--http-listen", "127.0.0.1:0")
    with service(redis_server.url, "127.0.0.1:0", *options, log=log) as process:
        expected = server_pb2.ServerCaller(
            name="ann", project="north", role=server_pb2.CALLER_ROLE_VIEWER
        )
        assert who(process, "badge:ann") == expected
        assert refused(process, "ticket:ann") == (REASON, REASON)
        assert refused(process, "badge:a b") == (REASON, REASON)
        # A caller without a name would be nobody, whatever its role.
        assert refused(process, "badge:nameless") == (REASON, REASON)
        for name in ("broken", "wordless"):
            reasons = refused(process, f"badge:{name}")
            assert reasons == ("IDENTITY_PROVIDER_UNAVAILABLE",) * 2
        with grpc.insecure_channel(process.ready["address"]) as channel:
            stub, parts = (
                scoring_pb2_grpc.ScoringServiceStub(with_token(channel, "badge:ann")),
                Quiet(),
            )
            stream = stub.ScoreStream(iter(parts), timeout=CALL_S)
            (package / "closed").touch()
            assert grpc_end(lambda: list(stream)) == REASON
            parts.end()
    found = log.read_text()
    assert "the identity provider failed" in found
    assert "badge:" not in found
    assert "Traceback" not in found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("other", "there are: absent, badges, nothing"),
        ("nothing", "Nothing has no method `caller`"),
        ("absent", "No module named 'corp_absent'"),
    ],
)
def test_provider_that_is_none_is_said_in_one_line(
    package: Path, name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(package)])
    with pytest.raises(IdentitiesError) as error:
        identities_of(read_settings(Settings, ["--identity-provider", name], program="service"))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_provider_that_takes_too_long_is_away() -> None:
    class Slow:
        async def caller(self, credentials: Credentials) -> Caller:
            await asyncio.sleep(60)
            return Caller("ann", "north", Role.VIEWER)

    with pytest.raises(ProviderAway):
        asyncio.run(Foreign("slow", Slow(), answer_s=0.01).caller(Credentials("x")))
