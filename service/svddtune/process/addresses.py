"""Addresses that a process listens at, as its settings give them."""

import errno
import ipaddress

TAKEN = "is another server using it?"
"""The likely cause where a process cannot listen at an address."""


def is_host_and_port(value: str) -> bool:
    """Whether it is HOST:PORT."""
    host, _, port = value.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and int(port) <= 65535


def is_loopback(listen: str) -> bool:
    """Whether only this machine reaches HOST:PORT or unix:PATH."""
    if listen.startswith("unix:"):
        return True
    host = listen.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen_fault(listen: str, error: OSError) -> str:
    """Return a sentence on why a process cannot listen at HOST:PORT."""
    taken = error.errno == errno.EADDRINUSE
    why = TAKEN if taken else str(error)
    return f"Cannot listen on {listen}: {why}"
