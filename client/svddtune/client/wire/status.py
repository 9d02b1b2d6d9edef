"""Statuses of gRPC as the client's exceptions."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, error_details_pb2, status_pb2

from svddtune.client.errors import (
    Conflict,
    InternalError,
    InvalidInput,
    LeaseLost,
    NotFound,
    PermissionDenied,
    ProtocolError,
    QuotaExceeded,
    SvddtuneError,
    Unauthenticated,
    Unavailable,
    WrongState,
)

# gRPC code -> class, unless the reason says more.
_BY_CODE: dict[int, type[SvddtuneError]] = {
    code_pb2.INVALID_ARGUMENT: InvalidInput,
    code_pb2.OUT_OF_RANGE: InvalidInput,
    code_pb2.NOT_FOUND: NotFound,
    code_pb2.FAILED_PRECONDITION: WrongState,
    code_pb2.ABORTED: Conflict,
    code_pb2.ALREADY_EXISTS: Conflict,
    code_pb2.RESOURCE_EXHAUSTED: QuotaExceeded,
    code_pb2.UNAVAILABLE: Unavailable,
    code_pb2.DEADLINE_EXCEEDED: Unavailable,
    code_pb2.CANCELLED: Unavailable,
    code_pb2.UNAUTHENTICATED: Unauthenticated,
    code_pb2.PERMISSION_DENIED: PermissionDenied,
    code_pb2.UNIMPLEMENTED: ProtocolError,
    code_pb2.INTERNAL: InternalError,
    code_pb2.UNKNOWN: InternalError,
    code_pb2.DATA_LOSS: InternalError,
}

_BY_REASON: dict[str, type[SvddtuneError]] = {
    "LEASE_LOST": LeaseLost,
    "PROTOCOL_VIOLATION": ProtocolError,
    "PROTOCOL_VERSION_UNSUPPORTED": ProtocolError,
    "ALREADY_ANSWERED": Conflict,
    "ANSWER_ID_REUSED": Conflict,
    "REQUEST_ID_REUSED": Conflict,
    "UNKNOWN_OBSERVATION": InvalidInput,
}


_WHAT_TO_DO = (
    "Check the address, and that both sides use TLS or neither; or start a service with: "
    "svddtune up"
)


def from_status(status: status_pb2.Status) -> SvddtuneError:
    """Return the exception for a status, whole or of one item of a stream."""
    reason, metadata, retry_after_s = "", dict[str, str](), None
    for detail in status.details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo()
            detail.Unpack(info)
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            retry = error_details_pb2.RetryInfo()
            detail.Unpack(retry)
            retry_after_s = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
    kind = _BY_REASON.get(reason) or _BY_CODE.get(status.code, InternalError)
    if not reason and status.code == code_pb2.DEADLINE_EXCEEDED:
        reason = "DEADLINE_EXCEEDED"
    return kind(
        status.message or code_pb2.Code.Name(status.code),
        reason=reason,
        metadata=metadata,
        retry_after_s=retry_after_s,
    )


def from_rpc_error(error: grpc.RpcError, address: str = "") -> SvddtuneError:
    """Return the exception for a failed call; its text names `address` where nobody answers."""
    return from_status(status_of(error, address))


def status_of(error: grpc.RpcError, address: str = "") -> status_pb2.Status:
    """Return the status of a failed call, whether the service made it or the transport."""
    status = _rich_status(getattr(error, "trailing_metadata", lambda: None)())
    if status is not None:
        return status
    code: grpc.StatusCode = error.code() if hasattr(error, "code") else grpc.StatusCode.UNKNOWN
    text = str(error.details() or "") if hasattr(error, "details") else str(error)
    if code is grpc.StatusCode.UNAVAILABLE and "CERTIFICATE_VERIFY_FAILED" in text:
        text = (
            f"The certificate of the service at {address} is not trusted. Give the certificates "
            f"of the authority that signed it (tls_ca, --tls-ca), and a host name that it has "
            f"({text})"
        )
    elif code is grpc.StatusCode.UNAVAILABLE and address:
        text = f"No svddtune service answers at {address} ({text}). {_WHAT_TO_DO}"
    elif code is grpc.StatusCode.DEADLINE_EXCEEDED and address:
        text = f"{address} did not answer within the timeout. {_WHAT_TO_DO}"
    return status_pb2.Status(code=code.value[0], message=text)


def _rich_status(metadata: Iterable[tuple[str, str | bytes]] | None) -> status_pb2.Status | None:
    for key, value in metadata or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                return None
    return None
