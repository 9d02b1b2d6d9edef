"""``python -m svddtune.service.probe``: ask the service of this container whether it is alive.

For the health check of a container, whose settings are in the environment. It needs the address
for HTTP (``SVDDTUNE_HTTP_LISTEN``).
"""

import http.client
import os
import ssl
import sys

_WAIT_S = 4.0


def main() -> int:
    """Return the exit code: 0 alive, 1 not, 2 where there is no address for HTTP."""
    host, _, port = os.environ.get("SVDDTUNE_HTTP_LISTEN", "").rpartition(":")
    if not port.isdigit():
        print("SVDDTUNE_HTTP_LISTEN is not HOST:PORT, so there is nothing to ask", file=sys.stderr)
        return 2
    # Where it listens on all addresses, the container's own will do.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bare := host.strip("[]"), bare)
    connection = _connection(host, int(port))
    try:
        connection.request("GET", "/livez", headers={"Host": "localhost"})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        print(f"{host}:{port}: {error}", file=sys.stderr)
        return 1
    finally:
        connection.close()
    if status != 200:
        print(f"{host}:{port}: HTTP status {status}", file=sys.stderr)
    return int(status != 200)


def _connection(host: str, port: int) -> http.client.HTTPConnection:
    if not os.environ.get("SVDDTUNE_TLS_CERT"):
        return http.client.HTTPConnection(host, port, timeout=_WAIT_S)
    # Its certificate is for the name that clients know, and nothing secret is sent.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=_WAIT_S, context=context)


if __name__ == "__main__":
    sys.exit(main())
