"""Clients that ping to keep an idle connection open are not cut off."""

from concurrent import futures

import grpc
import pytest
from tests.service.harness import Harness

from svddtune.v1 import tuning_pb2, tuning_pb2_grpc

# (It waits for three quarters of a minute.)
pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.thorough]

# The fastest that gRPC clients ping; the server tolerates two pings that come too early.
PING_S = 10
IDLE_S = 4 * PING_S + 5


def test_idle_stream_with_pings_stays_open(harness: Harness, service_process: object) -> None:
    address = service_process.ready["address"]  # type: ignore[attr-defined]
    session = harness.session()
    options = [
        ("grpc.keepalive_time_ms", PING_S * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    with (
        grpc.insecure_channel(address, options=options) as channel,
        futures.ThreadPoolExecutor() as threads,
    ):
        stub = tuning_pb2_grpc.TuningServiceStub(channel)
        updates = stub.WatchSession(tuning_pb2.WatchSessionRequest(name=session.name))
        next(updates)  # type: ignore[call-overload]
        waiting = threads.submit(lambda: next(updates))  # type: ignore[call-overload]
        # Nothing comes, and the stream does not end either.
        with pytest.raises(futures.TimeoutError):
            waiting.result(timeout=IDLE_S)
        stub.PauseSession(tuning_pb2.PauseSessionRequest(name=session.name))
        assert waiting.result(timeout=5).session.state == tuning_pb2.SESSION_STATE_PAUSED
        updates.cancel()  # type: ignore[no-untyped-call]
