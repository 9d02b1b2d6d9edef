"""Helpers of the service's and the stack's tests."""

import grpc
from google.rpc import error_details_pb2, status_pb2


def status_of(error: grpc.RpcError) -> status_pb2.Status:
    """The google.rpc.Status of a failed call."""
    for entry in error.trailing_metadata() or ():
        if entry.key == "grpc-status-details-bin":
            return status_pb2.Status.FromString(entry.value)
    return status_pb2.Status()


def error_info(status: status_pb2.Status) -> error_details_pb2.ErrorInfo:
    """The ErrorInfo among a status's details; empty where there is none."""
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info):
            break
    return info


def reason_of(error: grpc.RpcError) -> str:
    """Stable reason of a failed call."""
    return str(error_info(status_of(error)).reason)
