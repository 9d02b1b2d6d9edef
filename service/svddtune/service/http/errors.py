"""Errors as JSON: the ``google.rpc.Status`` that gRPC carries, with the HTTP status of its code.

The form is that of Google's APIs: ``{"error": {"code", "status", "message", "details"}}``, where
``code`` is the HTTP status and ``status`` the name of gRPC's code.
"""

import base64
from http import HTTPStatus
from typing import Any

import grpc
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2
from starlette.responses import JSONResponse

from svddtune.service.status import status_proto
from svddtune.state.errors import StateError

# As the comments on google.rpc.Code say.
_HTTP_STATUS = {
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.UNKNOWN: HTTPStatus.INTERNAL_SERVER_ERROR,
    grpc.StatusCode.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.DEADLINE_EXCEEDED: HTTPStatus.GATEWAY_TIMEOUT,
    grpc.StatusCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    grpc.StatusCode.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    grpc.StatusCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
    grpc.StatusCode.FAILED_PRECONDITION: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.ABORTED: HTTPStatus.CONFLICT,
    grpc.StatusCode.OUT_OF_RANGE: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.UNIMPLEMENTED: HTTPStatus.NOT_IMPLEMENTED,
    grpc.StatusCode.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
    grpc.StatusCode.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS: HTTPStatus.INTERNAL_SERVER_ERROR,
}
# What HTTP has a word of its own for.
_HTTP_STATUS_BY_REASON = {
    "BODY_TIMEOUT": HTTPStatus.REQUEST_TIMEOUT,
    "HOST_REFUSED": HTTPStatus.MISDIRECTED_REQUEST,
    "METHOD_NOT_ALLOWED": HTTPStatus.METHOD_NOT_ALLOWED,
    "ORIGIN_REFUSED": HTTPStatus.FORBIDDEN,
    "REQUEST_TOO_LARGE": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "UNSUPPORTED_CONTENT_TYPE": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}
_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}


def error_json(status: status_pb2.Status) -> dict[str, Any]:
    """The JSON object of an error."""
    code = _BY_NUMBER.get(status.code, grpc.StatusCode.UNKNOWN)
    details = json_format.MessageToDict(status).get("details", [])
    reason = next((one["reason"] for one in details if "reason" in one), "")
    return {
        "error": {
            "code": int(_HTTP_STATUS_BY_REASON.get(reason, _HTTP_STATUS[code])),
            "status": code.name,
            "message": status.message,
            "details": details,
        }
    }


def connect_error(status: status_pb2.Status) -> tuple[int, dict[str, Any]]:
    """The HTTP status and the JSON object of an error in the Connect protocol."""
    code = _BY_NUMBER.get(status.code, grpc.StatusCode.UNKNOWN)
    name = "canceled" if code is grpc.StatusCode.CANCELLED else code.name.lower()
    details = [
        {
            "type": one.TypeName(),
            "value": base64.b64encode(one.value).decode().rstrip("="),
            "debug": readable,
        }
        for one, readable in zip(
            status.details, json_format.MessageToDict(status).get("details", []), strict=True
        )
    ]
    error = {"code": name, "message": status.message, "details": details}
    return int(_HTTP_STATUS[code]), error


def error_response(status: status_pb2.Status) -> JSONResponse:
    """The response that carries a status."""
    content = error_json(status)
    response = JSONResponse(content, content["error"]["code"], challenge(status))
    for detail in status.details:
        if detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            retry = error_details_pb2.RetryInfo()
            detail.Unpack(retry)
            response.headers["Retry-After"] = str(max(1, retry.retry_delay.seconds))
    return response


def challenge(status: status_pb2.Status) -> dict[str, str]:
    """The header that says how to show who one is, for a call that must."""
    asks = status.code == grpc.StatusCode.UNAUTHENTICATED.value[0]
    return {"WWW-Authenticate": 'Bearer realm="svddtune"'} if asks else {}


def refusal(error: StateError) -> JSONResponse:
    """The response to a request that fails with an error of ours."""
    response = error_response(status_proto(error))
    if "allowed" in error.metadata:
        response.headers["Allow"] = error.metadata["allowed"]
    return response
