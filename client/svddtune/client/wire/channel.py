"""The gRPC channel: address and credentials in, channel out; retries as service config."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import grpc
import grpc.aio

from svddtune.client.errors import InvalidInput
from svddtune.client.wire.access import Access
from svddtune.client.wire.bearer import async_bearer, bearer

DEFAULT_ADDRESS = "127.0.0.1:50051"
MAX_CHUNK_BYTES = 960_000


def open_channel(address: str, access: Access) -> grpc.Channel:
    """Return a channel to ``host:port`` or ``unix:path``; without TLS unless told otherwise."""
    options = _options(address)
    trusted = access.channel_credentials()
    named = bearer(access.token_source(address, encrypted=trusted is not None))
    if trusted is not None:
        channel = grpc.secure_channel(address, trusted, options=options)
    else:
        channel = grpc.insecure_channel(address, options=options)
    return grpc.intercept_channel(channel, *named)


def open_async_channel(address: str, access: Access) -> grpc.aio.Channel:
    """Return the same for asyncio."""
    options = _options(address)
    trusted = access.channel_credentials()
    named = async_bearer(access.token_source(address, encrypted=trusted is not None))
    if trusted is not None:
        return grpc.aio.secure_channel(address, trusted, options=options, interceptors=named)
    return grpc.aio.insecure_channel(address, options=options, interceptors=named)


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


@cache
def _service_config() -> str:
    """Return deadlines and the calls that gRPC repeats, as published beside the contract."""
    return files("svddtune.v1").joinpath("service_config.json").read_text()
