"""JSON Web Tokens: signed by the issuer's keys, for this service, in time; keys change."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from tests.waiting import wait_until

from svddtune.service.access.caller import Caller, Role
from svddtune.service.access.faults import ProviderAway, Unauthenticated
from svddtune.service.access.identity import Credentials
from svddtune.service.access.web_tokens import Claims, WebTokens

ISSUER, AUDIENCE = "https://issuer.example", "svddtune"
CLAIMS = Claims("sub", "project", "realm.roles")
ANN = Caller("ann", "north", Role.TUNER)
FIRST = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SECOND = ec.generate_private_key(ec.SECP256R1())


def jwk(key: Any, kid: str) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if key is FIRST else jwt.algorithms.ECAlgorithm
    found: dict[str, Any] = json.loads(kind.to_jwk(key.public_key()))
    return found | {"kid": kid}


class Issuer:
    """Serves a JWKS, and counts how often it is read."""

    def __init__(self) -> None:
        self.keys = [jwk(FIRST, "first")]
        self.reads = 0
        self.away = False
        # What it sends instead of its keys.
        self.content: bytes | None = None
        self.leads_to = ""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.reads += 1
                content = issuer.content or json.dumps({"keys": issuer.keys}).encode()
                self.send_response(302 if issuer.leads_to else 503 if issuer.away else 200)
                if issuer.leads_to:
                    self.send_header("Location", issuer.leads_to)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/keys"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    found = Issuer()
    yield found
    found.close()


def provider(source: str) -> WebTokens:
    return WebTokens(issuer=ISSUER, audience=AUDIENCE, jwks=source, claims=CLAIMS)


def token(key: Any = FIRST, kid: str | None = "first", **changes: Any) -> str:
    claims: dict[str, Any] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": int(time.time()) + 60,
        "sub": "ann",
        "project": "north",
        "realm": {"roles": ["viewer", "tuner", "other"]},
    }
    claims |= changes
    algorithm = "RS256" if key is FIRST else "ES256"
    given = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(given, key, algorithm, headers={"kid": kid} if kid else None)


def caller_of(tokens: WebTokens, text: str) -> Caller | None:
    return asyncio.run(tokens.caller(Credentials(text)))


def test_token_names_caller_project_and_highest_role(issuer: Issuer) -> None:
    tokens = provider(issuer.url)
    assert caller_of(tokens, token()) == ANN
    assert caller_of(tokens, token()) == ANN
    assert caller_of(tokens, token(realm={"roles": "admin"})) == Caller("ann", "north", Role.ADMIN)
    # The issuer has one key, which a token need not name.
    assert caller_of(tokens, token(kid=None)) == ANN
    assert issuer.reads == 1


def test_token_of_another_kind_is_left_to_other_providers(issuer: Issuer) -> None:
    assert caller_of(provider(issuer.url), "svddtune_1_2") is None
    assert caller_of(provider(issuer.url), "") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"aud": "other"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"nbf": 4_000_000_000},
        {"sub": None},
        {"sub": "not a labeler"},
        {"project": "Not A Project"},
        {"project": None},
        {"realm": {"roles": ["king"]}},
        {"realm": None},
        {"kid": "unknown"},
        {"key": SECOND},
    ],
    ids=lambda one: "-".join(f"{key}={value}"[:20] for key, value in one.items() if key != "key"),
)
def test_token_that_proves_nobody_is_refused(issuer: Issuer, changes: dict[str, Any]) -> None:
    issuer.keys.append(jwk(SECOND, "second"))
    with pytest.raises(Unauthenticated):
        caller_of(provider(issuer.url), token(**changes))


def test_token_signed_with_no_key_or_with_the_public_one_is_refused(issuer: Issuer) -> None:
    claims = jwt.decode(token(), options={"verify_signature": False})
    public = FIRST.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    unsigned = jwt.encode(claims, None, "none", headers={"kid": "first"})  # type: ignore[arg-type]
    # (PyJWT refuses to sign so; an attacker would not.)
    shared = jwt.encode(claims, "x" * 32, "HS256", headers={"kid": "first"})
    head, body, _ = shared.split(".")
    secret = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    mark = jwt.utils.base64url_encode(secret.sign(f"{head}.{body}".encode(), public)).decode()
    for text in (unsigned, shared, f"{head}.{body}.{mark}"):
        with pytest.raises(Unauthenticated, match="algorithm"):
            caller_of(provider(issuer.url), text)


def test_new_key_is_fetched_when_a_token_names_it(issuer: Issuer, tmp_path: Path) -> None:
    tokens = provider(issuer.url)
    now = [1000.0]
    tokens._keys._now = lambda: now[0]
    assert caller_of(tokens, token()) == ANN
    issuer.keys = [jwk(SECOND, "second")]
    renewed = token(SECOND, "second")
    # (Anybody may name unknown keys, so the issuer is asked every ten seconds at most.)
    with pytest.raises(Unauthenticated, match="no such key"):
        caller_of(tokens, renewed)
    assert issuer.reads == 1
    now[0] += 11
    assert caller_of(tokens, renewed) == ANN
    assert issuer.reads == 2
    # What the issuer took away proves nothing any more.
    with pytest.raises(Unauthenticated, match="no such key"):
        caller_of(tokens, token(project="south"))


def test_issuer_that_is_away_is_no_fault_of_the_caller(issuer: Issuer) -> None:
    tokens = provider(issuer.url)
    now = [1000.0]
    tokens._keys._now = lambda: now[0]
    issuer.away = True
    with pytest.raises(ProviderAway):
        caller_of(tokens, token())
    issuer.away = False
    now[0] += 2
    assert caller_of(tokens, token()) == ANN
    issuer.away = True
    now[0] += 1000
    assert caller_of(tokens, token(project="south")) == Caller("ann", "south", Role.TUNER)


def test_keys_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [jwk(FIRST, "first"), {"kty": "oct", "k": "eA"}]}))
    assert caller_of(provider(str(file)), token()) == ANN


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"keys": 1}', b'{"keys": [1]}', b"[" * 100_000, b"\xff"],
    ids=range(6),
)
def test_keys_that_are_none_count_as_unread(issuer: Issuer, content: bytes) -> None:
    tokens = provider(issuer.url)
    issuer.content = content
    with pytest.raises(ProviderAway):
        caller_of(tokens, token())


def test_keys_are_not_read_where_their_address_leads(issuer: Issuer) -> None:
    tokens = provider(issuer.url)
    issuer.leads_to = f"{issuer.url}/elsewhere"
    with pytest.raises(ProviderAway):
        caller_of(tokens, token())
    assert issuer.reads == 1


def test_issuer_without_any_key_proves_nobody(issuer: Issuer) -> None:
    issuer.keys = []
    with pytest.raises(Unauthenticated, match="no such key"):
        caller_of(provider(issuer.url), token())


def test_token_ends_at_its_time_without_leeway(issuer: Issuer) -> None:
    tokens = provider(issuer.url)
    text = token(exp=int(time.time()) + 1)
    assert caller_of(tokens, text) == ANN
    wait_until(lambda: time.time() >= jwt_time(text))
    with pytest.raises(Unauthenticated, match="expired"):
        caller_of(tokens, text)


def jwt_time(text: str) -> int:
    claims = jwt.decode(text, options={"verify_signature": False})
    return int(claims["exp"])
