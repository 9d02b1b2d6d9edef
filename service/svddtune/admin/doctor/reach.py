"""Check of a running service, as a client sees it."""

from collections.abc import Iterator
from pathlib import Path

from svddtune.admin.doctor.findings import Finding, error, ok, warning
from svddtune.version import __version__

_PATIENCE_S = 3.0


def check_service(server: str, tls_ca: Path | None) -> Iterator[Finding]:
    """Check that a service can be reached and serves."""
    from svddtune.client.client import TuningClient
    from svddtune.client.errors import SvddtuneError

    try:
        with TuningClient(server, tls_ca=tls_ca, timeout_s=_PATIENCE_S) as client:
            info = client.server_info()
    except SvddtuneError as fault:
        yield error(
            "service",
            f"{server}: {fault.message}",
            "Look whether it runs and what its log says; with TLS, give --tls-ca.",
        )
        return
    if info.ready:
        yield ok("service", f"{server} serves")
    else:
        yield error("service", f"{server} is not ready: {info.message}", "See the findings above.")
    if info.version != __version__:
        yield warning(
            "service version",
            f"{info.version}; this is {__version__}",
            "That is right during an upgrade only. Restart the service with this version.",
        )
