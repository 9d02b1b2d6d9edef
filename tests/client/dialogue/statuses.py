"""google.rpc.Status as the service makes them."""

from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2


def status(
    code: int, reason: str = "", message: str = "text", retry_s: float = 0.0, **metadata: str
) -> status_pb2.Status:
    details = []
    if reason:
        info = error_details_pb2.ErrorInfo(reason=reason, domain="svddtune", metadata=metadata)
        details.append(any_pb2.Any())
        details[-1].Pack(info)
    if retry_s:
        delay = duration_pb2.Duration(seconds=int(retry_s), nanos=int(retry_s % 1 * 1e9))
        details.append(any_pb2.Any())
        details[-1].Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    return status_pb2.Status(code=code, message=message, details=details)
