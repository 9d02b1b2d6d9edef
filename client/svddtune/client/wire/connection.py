"""The connection of a client: unary calls and streams, with gRPC's errors translated."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc

from svddtune.client.errors import WrongState
from svddtune.client.wire.access import Access
from svddtune.client.wire.calls import Call
from svddtune.client.wire.channel import open_channel
from svddtune.client.wire.status import from_rpc_error
from svddtune.v1 import (
    dataset_pb2_grpc,
    oracle_pb2_grpc,
    scoring_pb2_grpc,
    server_pb2_grpc,
    tuning_pb2_grpc,
)

_T = TypeVar("_T")


class Connection:
    """A channel with its stubs. Thread-safe.

    Parameters
    ----------
    timeout_s : float
        Default deadline of a call, in seconds.
    """

    def __init__(
        self,
        address: str,
        access: Access,
        *,
        timeout_s: float,
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self.channel = open_channel(address, access)
        self.oracle = oracle_pb2_grpc.OracleServiceStub(self.channel)
        self._tuning = tuning_pb2_grpc.TuningServiceStub(self.channel)
        self._stubs = {
            "datasets": dataset_pb2_grpc.DatasetServiceStub(self.channel),
            "oracle": self.oracle,
            "scoring": scoring_pb2_grpc.ScoringServiceStub(self.channel),
            "server": server_pb2_grpc.ServerServiceStub(self.channel),
            "tuning": self._tuning,
        }
        self._closed = threading.Event()

    def close(self) -> None:
        """Close the channel and whatever is open on it."""
        self._closed.set()
        self.channel.close()

    def do(self, call: Call[_T], *, timeout_s: float | None = None) -> _T:
        """Make a unary call; return its parsed reply."""
        method = getattr(self._stubs[call.service], call.method)
        with self._translated_errors():
            reply = method(call.request, timeout=timeout_s or self.timeout_s)
        return call.parse(reply)

    def stream(self, method: str, request: Any, *, timeout_s: float) -> Generator[Any, None, None]:
        """Yield the messages of a stream of the tuning service; close the generator to end it."""
        with self._translated_errors():
            call = getattr(self._tuning, method)(request, timeout=timeout_s)
            try:
                yield from call
            finally:
                call.cancel()

    def pause(self, seconds: float) -> None:
        """Wait, at most until the connection is closed."""
        self._closed.wait(seconds)

    @contextmanager
    def _translated_errors(self) -> Generator[None, None, None]:
        try:
            yield
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from None
        except ValueError as error:  # grpc's way of saying that the channel is closed
            raise WrongState(str(error), reason="CLIENT_CLOSED") from None
