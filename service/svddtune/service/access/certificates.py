"""Callers by client certificates: CN is the name, O the project, OU the role.

TLS has verified that an authority of the service has signed the certificate.
"""

import ssl
import time

from cryptography import x509
from cryptography.x509.oid import NameOID

from svddtune.service.access.caller import Caller
from svddtune.service.access.faults import invalid
from svddtune.service.access.identity import Credentials, caller_from
from svddtune.service.cache import Lru

_REMEMBERED = 1000


class Certificates:
    """An identity provider."""

    def __init__(self) -> None:
        # Certificate -> whom it names, and when it ends, in seconds since 1970.
        self._known: Lru[bytes, tuple[Caller, float]] = Lru(_REMEMBERED)

    async def caller(self, credentials: Credentials) -> Caller | None:
        """Return whom the certificate names; None where there is a token, which then counts."""
        certificate = credentials.certificate
        if credentials.token or not certificate:
            return None
        known = self._known.get(certificate)
        caller, ends = known or self._known.put(certificate, _read(certificate))
        # (TLS has looked at the time when the connection began, which may be long ago.)
        if time.time() > ends:
            raise invalid("the certificate has expired")
        return caller


def _read(certificate: bytes) -> tuple[Caller, float]:
    read = x509.load_pem_x509_certificate(certificate)
    found = []
    for part, oid in (
        ("CN", NameOID.COMMON_NAME),
        ("O", NameOID.ORGANIZATION_NAME),
        ("OU", NameOID.ORGANIZATIONAL_UNIT_NAME),
    ):
        values = read.subject.get_attributes_for_oid(oid)
        if len(values) != 1:
            raise invalid(f"the certificate's subject has {len(values)} of {part}, but needs one")
        found.append(str(values[0].value))
    return caller_from(*found), read.not_valid_after_utc.timestamp()


def pem_of(certificate: bytes) -> bytes:
    """Return a certificate in PEM that is given in DER."""
    return ssl.DER_cert_to_PEM_cert(certificate).encode()
