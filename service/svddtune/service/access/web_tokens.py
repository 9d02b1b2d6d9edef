"""Callers by JSON Web Tokens of an OpenID Connect issuer, whose keys are in a JWKS."""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt

from svddtune.service.access.caller import Caller
from svddtune.service.access.faults import ProviderAway, invalid
from svddtune.service.access.identity import Credentials, caller_from
from svddtune.service.cache import Lru

log = logging.getLogger(__name__)

# Signatures with a private key alone. (With a shared secret, who knows the public key could sign.)
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_ROLES = ("admin", "tuner", "labeler", "viewer")
# The issuer's clock may be ahead by so many seconds. A token ends at its ``exp`` all the same.
_LEEWAY_S = 30
# A set of keys is read again after so many seconds, and at once for an unknown key, but not more
# often than the second figure says: anybody may name unknown keys. The third figure takes its place
# until the keys were read once.
_KEYS_S, _LEAST_S, _FIRST_S = 300.0, 10.0, 1.0
_FETCH_S = 5.0
_LARGEST = 16_384
_REMEMBERED, _REMEMBER_S = 10_000, 60.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Which claims name the caller, its project and its role; a dot goes into an object."""

    name: str
    project: str
    role: str


class WebTokens:
    """An identity provider."""

    def __init__(self, *, issuer: str, audience: str, jwks: str, claims: Claims) -> None:
        """``jwks`` is the URL or the path of the issuer's keys."""
        self._issuer = issuer
        self._audience = audience
        self._claims = claims
        self._keys = KeySet(jwks)
        # Token -> its caller, and until when that is sure without another look.
        self._known: Lru[str, tuple[Caller, float]] = Lru(_REMEMBERED)

    async def caller(self, credentials: Credentials) -> Caller | None:
        """Return whom the token names; None for another kind of token."""
        token = credentials.token
        if token.count(".") != 2:
            return None
        known = self._known.get(token)
        if known is not None and time.time() < known[1]:
            return known[0]
        claims = await self._verified(token)
        caller = caller_from(
            _text(claims, self._claims.name),
            _text(claims, self._claims.project),
            _role(claims, self._claims.role),
        )
        sure_until = min(time.time() + _REMEMBER_S, int(claims["exp"]))
        self._known.put(token, (caller, sure_until))
        return caller

    async def _verified(self, token: str) -> dict[str, Any]:
        if len(token) > _LARGEST:
            raise invalid(f"the token is above {_LARGEST} bytes")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise invalid(f"the algorithm {str(header.get('alg'))[:20]} is not allowed")
            key = await self._keys.find(header.get("kid"))
            verified: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._issuer,
                audience=self._audience,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        # (Anybody may send a header that is nested deeper than Python's own limit.)
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise invalid(f"the token is not valid ({error})") from None
        if int(verified["exp"]) <= time.time():
            raise invalid("the token has expired")
        return verified


class KeySet:
    """The public keys of an issuer, by their ids."""

    def __init__(self, source: str) -> None:
        self._source = source
        # None until they have been read once.
        self._keys: dict[str | None, jwt.PyJWK] | None = None
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()
        self._now = time.monotonic

    async def find(self, key_id: str | None) -> jwt.PyJWK:
        """Return a key. Raises Unauthenticated where there is none, ProviderAway."""
        if not self._fresh(key_id):
            async with self._reading:
                if not self._fresh(key_id):
                    await self._read()
        if self._keys is None:
            raise ProviderAway(
                "IDENTITY_PROVIDER_UNAVAILABLE",
                "The keys that tokens are checked with cannot be read now; try again.",
            )
        key = self._keys.get(key_id)
        if key is None and key_id is None and len(self._keys) == 1:
            (key,) = self._keys.values()
        if key is None:
            raise invalid("the issuer has no such key")
        return key

    def _fresh(self, key_id: str | None) -> bool:
        age = self._now() - self._read_at
        if self._keys is None:
            return age < _FIRST_S
        return age < (_KEYS_S if key_id in self._keys else _LEAST_S)

    async def _read(self) -> None:
        try:
            text = await asyncio.to_thread(_content, self._source)
            self._keys = _public(json.loads(text))
        # (What a server sends may be wrong in any way.)
        except Exception as error:
            # Those known so far are good for another while.
            log.warning("the issuer's keys cannot be read: %s: %s", type(error).__name__, error)
        self._read_at = self._now()


def _content(source: str) -> str:
    if "://" not in source:
        return Path(source).read_text()
    # (httpx would be a dependency of services that need no more than this.)
    from urllib.request import HTTPRedirectHandler, build_opener

    class Stay(HTTPRedirectHandler):
        """Goes nowhere else: another address may be without TLS."""

        def redirect_request(self, *_: object) -> None:
            return None

    with build_opener(Stay).open(source, timeout=_FETCH_S) as response:
        found: bytes = response.read(1 << 20)
    return found.decode()


def _public(content: Any) -> dict[str | None, jwt.PyJWK]:
    """The keys of a set that may prove who signed. Raises ValueError."""
    listed = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ValueError("there is no list of keys")
    found = {}
    for one in listed:
        if one.get("kty") in ("RSA", "EC", "OKP") and one.get("use", "sig") == "sig":
            try:
                found[one.get("kid")] = jwt.PyJWK(one)
            except jwt.PyJWTError as error:
                log.warning("a key of the issuer is left out: %s", error)
    return found


def _claim(claims: Mapping[str, Any], path: str) -> Any:
    # (Names of claims are often URLs, which have dots themselves.)
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _text(claims: Mapping[str, Any], path: str) -> str:
    found = _claim(claims, path)
    if not isinstance(found, str):
        raise invalid(f"the token has no text in the claim {path}")
    return found


def _role(claims: Mapping[str, Any], path: str) -> str:
    """The role, or the highest one of a list."""
    found = _claim(claims, path)
    given = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    role = next((one for one in _ROLES if one in given), None)
    if role is None:
        raise invalid(f"the token has no role of this service in the claim {path}")
    return role
