"""Helpers of the service's and the stack's tests."""

import time
from collections.abc import Callable
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2


def wait_until(condition: Callable[[], Any], timeout_s: float = 15.0) -> Any:
    """What the condition returns once it is true; fails after the timeout."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {timeout_s} s"
        time.sleep(0.01)
    return value


def status_of(error: grpc.RpcError) -> status_pb2.Status:
    """The google.rpc.Status of a failed call."""
    found = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    return status_pb2.Status.FromString(found)


def error_info(status: status_pb2.Status) -> error_details_pb2.ErrorInfo:
    """The ErrorInfo among a status's details; empty where there is none."""
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info):
            break
    return info


def reason_of(error: grpc.RpcError) -> str:
    """Stable reason of a failed call."""
    return error_info(status_of(error)).reason
