"""A small OpenID Connect issuer: authorization code with PKCE, signed tokens, renewal."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, AUDIENCE, KEY_ID = "svddtune-console", "svddtune", "first"
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Issuer:
    """What it gives out, what it was asked, and how it can go wrong."""

    url: str = ""
    name: str = "ann"
    role: str = "tuner"
    # Seconds for which an access token is good.
    lifetime_s: int = 3600
    # What replaces the nonce and the state that it was given.
    wrong_nonce: str = ""
    wrong_state: str = ""
    denies: bool = False
    grants: list[str] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _renewals: set[str] = field(default_factory=set)

    def configuration(self) -> dict[str, Any]:
        """What the well-known address says."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }

    def keys(self) -> dict[str, Any]:
        """The public keys."""
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(_KEY.public_key()))
        return {"keys": [public | {"kid": KEY_ID, "use": "sig"}]}

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser goes once the person has said yes, or no."""
        self.asked.append(query)
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        answer = {"state": self.wrong_state or query["state"]}
        if self.denies:
            answer |= {"error": "access_denied", "error_description": "Ann said no."}
        else:
            answer["code"] = secrets.token_urlsafe()
            self._codes[answer["code"]] = query
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Tokens for a code or for an earlier renewal token; each is good once."""
        if form.get("client_id") != CLIENT_ID:
            return None
        nonce = None
        if form["grant_type"] == "authorization_code":
            asked = self._codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if asked is None or asked["code_challenge"] != challenge:
                return None
            if asked["redirect_uri"] != form["redirect_uri"]:
                return None
            nonce = self.wrong_nonce or asked["nonce"]
        elif form["refresh_token"] in self._renewals:
            self._renewals.remove(form["refresh_token"])
        else:
            return None
        self.grants.append(form["grant_type"])
        renewal = secrets.token_urlsafe()
        self._renewals.add(renewal)
        given = {
            "access_token": self._signed(AUDIENCE, svddtune_role=self.role),
            "token_type": "Bearer",
            "expires_in": self.lifetime_s,
            "refresh_token": renewal,
        }
        return given | ({"id_token": self._signed(CLIENT_ID, nonce=nonce)} if nonce else {})

    def forget_renewals(self) -> None:
        """Renew nothing that was given so far."""
        self._renewals.clear()

    def _signed(self, audience: str, **claims: Any) -> str:
        now = int(time.time())
        content = {
            "iss": self.url,
            "aud": audience,
            "sub": self.name,
            "iat": now,
            "exp": now + self.lifetime_s,
            "jti": secrets.token_hex(8),
            "svddtune_project": "default",
        }
        return jwt.encode(content | claims, _KEY, "RS256", headers={"kid": KEY_ID})


@contextmanager
def issuing() -> Iterator[Issuer]:
    """A running issuer."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/.well-known/openid-configuration":
                self._send(issuer.configuration())
            elif parts.path == "/keys":
                self._send(issuer.keys())
            elif parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", issuer.authorize(_single(parts.query)))
                self.end_headers()
            else:
                self._send({}, 404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            given = issuer.token(_single(body))
            self._send(given or {"error": "invalid_grant"}, 200 if given else 400)

        def _send(self, content: dict[str, Any], status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            # (Pages of the client's origin exchange codes.)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield issuer
    server.shutdown()
    thread.join()
    server.server_close()


def _single(text: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(text).items()}
