"""Checks of the files of a service: its certificate with the key, and its tokens."""

import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from svddtune.admin.doctor.findings import Finding, error, ok, warning

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_SOON = timedelta(days=14)


def check_certificate(cert: Path, key: Path | None, host: str) -> Iterator[Finding]:
    """Check a certificate (PEM, the server's first), its key and, where given, a host name."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        served = x509.load_pem_x509_certificates(cert.read_bytes())[0]
    except OSError as fault:
        yield error("certificate", f"{cert}: {fault.strerror}", "Name a file that can be read.")
        return
    except ValueError:
        yield error("certificate", f"{cert} holds no certificate", "Name a PEM file.")
        return
    yield _expiry(served.not_valid_before_utc, served.not_valid_after_utc)
    if host:
        yield _host_name(served, host)
    if key is None:
        return
    try:
        private = load_pem_private_key(key.read_bytes(), password=None)
    except OSError as fault:
        yield error("key", f"{key}: {fault.strerror}", "Name a file that can be read.")
    except (ValueError, TypeError):
        yield error("key", f"{key} holds no key without a password", "Name a PEM file.")
    else:
        yield (
            ok("key", "belongs to the certificate")
            if private.public_key() == served.public_key()
            else error(
                "key",
                f"{key} does not belong to {cert}",
                "Name the key that the certificate was made for.",
            )
        )
        yield from check_private(key, "key file")


def _expiry(begins: datetime, ends: datetime) -> Finding:
    now = datetime.now(UTC)
    value = f"valid from {begins:%Y-%m-%d} to {ends:%Y-%m-%d}"
    if now < begins:
        return error("certificate", value, "It is not valid yet: look at this machine's clock.")
    if now >= ends:
        return error("certificate", value, "It has expired. Renew it, then restart the service.")
    if ends - now < _SOON:
        advice = f"It expires in {(ends - now).days} days. Renew it, then restart the service."
        return warning("certificate", value, advice)
    return ok("certificate", value)


def _host_name(served: "Certificate", host: str) -> Finding:
    import ipaddress

    from cryptography import x509

    try:
        names = served.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        names = x509.SubjectAlternativeName([])
    dns = [one.lower() for one in names.get_values_for_type(x509.DNSName)]
    addresses = names.get_values_for_type(x509.IPAddress)
    try:
        matches = ipaddress.ip_address(host) in addresses
    except ValueError:
        wild = "*." + host.lower().partition(".")[2]
        matches = host.lower() in dns or wild in dns
    shown = ", ".join([*dns, *map(str, addresses)]) or "no names"
    if matches:
        return ok("host name", f"{host} is in the certificate")
    return error(
        "host name",
        f"the certificate is for {shown}, not for {host}",
        f"Clients refuse it. Have one made whose subjectAltName holds {host}.",
    )


def check_private(path: Path, check: str) -> Iterator[Finding]:
    """Check that only its owner can read a file of secrets."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as fault:
        yield error(check, f"{path}: {fault.strerror}", "Name a file that is there.")
        return
    if mode & 0o077:
        yield error(
            check,
            f"{path} has mode {mode:04o}: other users can read it",
            f"chmod 600 {path}",
        )
    else:
        yield ok(check, f"{path} has mode {mode:04o}")
