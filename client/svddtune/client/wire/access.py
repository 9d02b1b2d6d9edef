"""How a client connects: its encryption, and what tells the service who calls."""

from __future__ import annotations

import ipaddress
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import grpc

from svddtune.client.errors import InvalidInput
from svddtune.client.wire.bearer import Token, token_source

_Path = str | os.PathLike[str]
_CERT_VARIABLE = "SVDDTUNE_CLIENT_CERT"
_KEY_VARIABLE = "SVDDTUNE_CLIENT_KEY"


@dataclass(frozen=True, slots=True)
class Access:
    """What `TuningClient` is given to connect with; see there."""

    tls_ca: _Path | bytes | None = None
    client_cert: _Path | None = None
    client_key: _Path | None = None
    credentials: grpc.ChannelCredentials | None = None
    token: Token = None

    @property
    def names_caller(self) -> bool:
        """Whether it tells the service who calls."""
        return bool(
            token_source(self.token)
            or (self.credentials is None and _given(self.client_cert, _CERT_VARIABLE))
        )

    def default_labeler(self) -> str:
        """Return the name of a labeler that is given none: a new one each time.

        It is "" where the service knows the caller's name.
        """
        return "" if self.names_caller else f"client-{uuid.uuid4().hex[:12]}"

    def channel_credentials(self) -> grpc.ChannelCredentials | None:
        """Return what encrypts the channel; None where nothing does.

        Raises InvalidInput (``INVALID_CERTIFICATE``) for files that do not serve.
        """
        if self.credentials is not None:
            return self.credentials
        cert = _given(self.client_cert, _CERT_VARIABLE)
        key = _given(self.client_key, _KEY_VARIABLE)
        if self.tls_ca is None and not cert and not key:
            return None
        root = None if self.tls_ca is None else _authorities(self.tls_ca)
        if not cert and not key:
            return grpc.ssl_channel_credentials(root)
        _check_pair(cert, key)
        return grpc.ssl_channel_credentials(root, Path(key).read_bytes(), Path(cert).read_bytes())

    def token_source(self, address: str, *, encrypted: bool) -> Callable[[], str] | None:
        """Return what tells the token of a call, or None.

        Raises InvalidInput (``TOKEN_NOT_ENCRYPTED``) where others could read it on the way, and
        what the source raises.
        """
        source = token_source(self.token)
        if source is not None and not encrypted and not _is_local(address):
            raise InvalidInput(
                f"A token is not sent to {address} without encryption, because others on the way "
                f"could read it. Give the certificates to trust: tls_ca=..., or on the command "
                f"line --tls-ca FILE",
                reason="TOKEN_NOT_ENCRYPTED",
                metadata={"address": address},
            )
        if source is not None:
            source()  # (A wrong one shows at once.)
        return source


def _given(path: _Path | None, variable: str) -> str:
    return os.fspath(path) if path is not None else os.environ.get(variable, "")


def _authorities(source: _Path | bytes) -> bytes:
    import ssl

    name = "tls_ca" if isinstance(source, bytes) else os.fspath(source)
    content = source if isinstance(source, bytes) else _read(name)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=content.decode())
    except (ssl.SSLError, ValueError):
        raise _invalid(
            f"{name} holds no certificate in PEM format; give the file with the certificates of "
            f"the authority that signed the service's own",
            name,
        ) from None
    return content


def _check_pair(cert: str, key: str) -> None:
    """Raise InvalidInput unless the files hold a certificate and its key.

    gRPC would only log it, and say that nobody answers.
    """
    import ssl

    if not cert or not key:
        given = f"the certificate {cert}" if cert else f"the key {key}"
        raise _invalid(
            f"There is only {given}: a client certificate needs both, client_cert and client_key "
            f"(--client-cert FILE --client-key FILE)",
            cert or key,
        )
    for file in (cert, key):
        _read(file)
    try:
        # (With a password the key would be asked for on the terminal.)
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(cert, key, lambda: b"")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            text = f"The key in {key} does not belong to the certificate in {cert}: give the pair"
        else:
            text = (
                f"{cert} and {key} are no client certificate and its key: both must be in PEM "
                f"format, the key without a password"
            )
        raise _invalid(text, cert) from None


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise _invalid(f"{file} cannot be read: {error.strerror}", file) from None


def _invalid(text: str, file: str) -> InvalidInput:
    return InvalidInput(text, reason="INVALID_CERTIFICATE", metadata={"file": file})


def _is_local(address: str) -> bool:
    """Whether what is sent there stays on this machine."""
    scheme, found, rest = address.partition(":")
    if scheme in ("unix", "unix-abstract") and found:
        return True
    hosts = rest if scheme in ("dns", "ipv4", "ipv6") and found else address
    return all(_is_loopback(one) for one in hosts.rpartition("/")[2].split(","))


def _is_loopback(host_and_port: str) -> bool:
    host = host_and_port.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
