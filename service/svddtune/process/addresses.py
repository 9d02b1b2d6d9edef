"""Addresses that a process listens at, as its settings give them."""

import ipaddress


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
