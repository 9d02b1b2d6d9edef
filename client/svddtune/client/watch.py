"""A session watched until it ends, over as many streams as that takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import grpc

from svddtune.client import convert
from svddtune.client.backoff import Backoff
from svddtune.client.errors import Unavailable, from_rpc_error
from svddtune.client.types import SessionState, SessionUpdate
from svddtune.v1 import tuning_pb2, tuning_pb2_grpc

STREAM_S = 3600.0
# A session that was never seen: nobody may be there at all, so do not wait for ever.
_FIRST_TRIES = 5


def watch_session(
    stub: tuning_pb2_grpc.TuningServiceStub,
    name: str,
    address: str,
    closed: threading.Event,
    *,
    timeout_s: float | None = None,
) -> Iterator[SessionUpdate]:
    """Yield the session now and after every change, until it ends or `timeout_s` is over."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    token, failures, backoff = "", 0, Backoff()
    state: SessionState | None = None
    while not closed.is_set():
        request = tuning_pb2.WatchSessionRequest(name=name, resume_token=token)
        call: Any = stub.WatchSession(request, timeout=_remaining(deadline, name, state))
        asked_s = None
        try:
            for message in call:
                backoff.reset()
                token = message.resume_token
                session = convert.session_from_proto(message.session)
                state = session.state
                yield SessionUpdate(session, tuple(map(convert.event_from_proto, message.events)))
                if state.ended:
                    return
        except grpc.RpcError as failure:
            error = from_rpc_error(failure, address)
            failures += 1
            if not isinstance(error, Unavailable) or (state is None and failures >= _FIRST_TRIES):
                raise error from None
            asked_s = error.retry_after_s
        finally:
            call.cancel()
        delay_s = backoff.next_s(asked_s)
        closed.wait(delay_s if deadline is None else min(delay_s, deadline - time.monotonic()))


def _remaining(deadline: float | None, name: str, state: SessionState | None) -> float:
    if deadline is None:
        return STREAM_S
    remaining_s = deadline - time.monotonic()
    if remaining_s <= 0:
        where = f"is still {state.value}" if state else "was not seen"
        raise Unavailable(f"{name} {where} at the end of the time given", reason="WAIT_TIMEOUT")
    return min(STREAM_S, remaining_s)
