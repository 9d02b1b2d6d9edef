"""The gRPC channel: address and credentials in, channel out; retries as service config."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from svddtune.client.errors import InvalidInput

DEFAULT_ADDRESS = "127.0.0.1:50051"
MAX_CHUNK_BYTES = 960_000

# Calls that are safe to repeat: reads, and those with a request id.
_IDEMPOTENT = {
    "svddtune.v1.DatasetService": ("GetDataset", "GetUpload", "ListDatasets"),
    "svddtune.v1.TuningService": (
        "CreateSession",
        "GetSession",
        "ListSessions",
        "UpdateSession",
        "ListLabels",
        "GetResult",
        "ListResults",
        "ExportModel",
    ),
}
_RETRY = {
    "maxAttempts": 5,
    "initialBackoff": "0.2s",
    "maxBackoff": "3s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}


def open_channel(
    address: str,
    *,
    tls_ca: str | os.PathLike[str] | bytes | None = None,
    credentials: grpc.ChannelCredentials | None = None,
) -> grpc.Channel:
    """Return a channel to ``host:port`` or ``unix:path``; without TLS unless told otherwise."""
    options = _options(address)
    trusted = _credentials(tls_ca, credentials)
    if trusted is not None:
        return grpc.secure_channel(address, trusted, options=options)
    return grpc.insecure_channel(address, options=options)


def open_async_channel(
    address: str,
    *,
    tls_ca: str | os.PathLike[str] | bytes | None = None,
    credentials: grpc.ChannelCredentials | None = None,
) -> grpc.aio.Channel:
    """Return the same for asyncio."""
    options = _options(address)
    trusted = _credentials(tls_ca, credentials)
    if trusted is not None:
        return grpc.aio.secure_channel(address, trusted, options=options)
    return grpc.aio.insecure_channel(address, options=options)


def _options(address: str) -> list[tuple[str, Any]]:
    if not address or (":" not in address):
        raise InvalidInput(
            f"{address!r} is not an address: use HOST:PORT or unix:PATH",
            metadata={"address": address},
        )
    return [
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.min_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 5_000),
        # A channel of its own: a pooled connection would be closed under another client.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_retries", 1),
        ("grpc.service_config", _service_config()),
    ]


def _credentials(
    tls_ca: str | os.PathLike[str] | bytes | None, credentials: grpc.ChannelCredentials | None
) -> grpc.ChannelCredentials | None:
    if credentials is not None or tls_ca is None:
        return credentials
    root = tls_ca if isinstance(tls_ca, bytes) else Path(tls_ca).read_bytes()
    return grpc.ssl_channel_credentials(root_certificates=root)


def _service_config() -> str:
    names = [
        {"service": service, "method": method}
        for service, methods in _IDEMPOTENT.items()
        for method in methods
    ]
    return json.dumps({"methodConfig": [{"name": names, "retryPolicy": _RETRY}]})
